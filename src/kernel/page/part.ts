// What a wing adds to the web page.

import type { ComponentChildren } from 'preact';

export interface Page {
  /** First part of its address. */
  readonly path: string;
  readonly title: string;
  /** `rest`: the other parts of the address. */
  readonly show: (rest: readonly string[]) => ComponentChildren;
}

export interface PagePart {
  /** Pages of its own: in the menu behind those that show the cluster at work. */
  readonly pages?: readonly Page[];
  /** A line above the content of every page; null when there is nothing to say. */
  readonly Banner?: () => ComponentChildren;
}
