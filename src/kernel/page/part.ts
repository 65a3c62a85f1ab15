// What a wing adds to the web page.

import type { ComponentChildren } from 'preact';
import type { JobDetail } from '../api/jobs.ts';

export interface Page {
  /** First part of its address. */
  readonly path: string;
  readonly title: string;
  /** Reached by its address alone: no place in the menu. */
  readonly isApart?: boolean;
  /** `rest`: the other parts of the address. */
  readonly show: (rest: readonly string[]) => ComponentChildren;
}

/** A place beside the page that the same head serves. */
export interface Elsewhere {
  readonly title: string;
  readonly href: string;
}

export interface PagePart {
  /** Pages of its own: in the menu behind those that show the cluster at work. */
  readonly pages?: readonly Page[];
  /** At the end of the menu. */
  readonly elsewhere?: Elsewhere;
  /** Beside what the page of a node shows. */
  readonly OfNode?: (of: { readonly name: string }) => ComponentChildren;
  /** Beside what the page of a job shows. */
  readonly OfJob?: (of: { readonly job: JobDetail }) => ComponentChildren;
  /** A line above the content of every page; null when there is nothing to say. */
  readonly Banner?: () => ComponentChildren;
}
