// Several lists of nodes, each in order, that are read side by side.

import type { NodeView } from './pool.ts';

/** A list of nodes, read from its first one on. */
export interface Cursor {
  readonly head: NodeView | undefined;
  advance(): void;
}

/** Only the nodes that are wanted. */
export function cursor(nodes: Iterable<NodeView>, wanted: (view: NodeView) => boolean): Cursor {
  const iterator = nodes[Symbol.iterator]();
  const next = (): NodeView | undefined => {
    for (let step = iterator.next(); step.done !== true; step = iterator.next()) {
      if (wanted(step.value)) return step.value;
    }
    return undefined;
  };
  let head = next();
  return {
    get head() {
      return head;
    },
    advance() {
      head = next();
    },
  };
}

/** What has not been read yet. */
export function rest(source: Cursor): NodeView[] {
  const views: NodeView[] = [];
  for (; source.head !== undefined; source.advance()) views.push(source.head);
  return views;
}
