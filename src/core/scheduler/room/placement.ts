// Which of the nodes that fit a task gets: by the placement rule of its partition.

import type { NodeName } from '../../model/ids.ts';
import type { Ask } from './ask.ts';
import type { Cursor } from './cursor.ts';
import type { NodeView } from './pool.ts';

export class Placement {
  readonly #loads: ReadonlyMap<NodeName, number>;

  /** Load average per cpu, for `least_loaded`; absent = 0. */
  constructor(loads: ReadonlyMap<NodeName, number>) {
    this.#loads = loads;
  }

  first(views: Iterable<NodeView>, ask: Ask, max: number): NodeView[] {
    return [...views].sort((a, b) => this.#compare(a, b, ask)).slice(0, max);
  }

  /** Like `first`, over sources that each have their nodes in the order of placement. */
  merge(sources: readonly Cursor[], ask: Ask, max: number): NodeView[] {
    const chosen: NodeView[] = [];
    while (chosen.length < max) {
      let best: Cursor | undefined;
      for (const source of sources) {
        if (source.head === undefined) continue;
        if (best?.head === undefined || this.#compare(source.head, best.head, ask) < 0) {
          best = source;
        }
      }
      if (best?.head === undefined) break;
      chosen.push(best.head);
      best.advance();
    }
    return chosen;
  }

  #compare(a: NodeView, b: NodeView, { placement }: Ask): number {
    if (placement === 'pack') return a.order - b.order;
    if (placement === 'spread') return usedPart(a) - usedPart(b) || a.order - b.order;
    const load = (view: NodeView): number => this.#loads.get(view.name) ?? 0;
    return load(a) - load(b) || usedPart(a) - usedPart(b) || a.order - b.order;
  }
}

function usedPart({ free, total }: NodeView): number {
  return total.cpuCount === 0 ? 0 : 1 - free.cpuCount / total.cpuCount;
}
