// Which of the nodes that fit a task gets: by the placement rule of its partition.

import type { NodeName } from '../../model/ids.ts';
import { LOOKS_PER_SORTED } from '../../model/limits.ts';
import { siteRuleOf } from '../../model/scheduling.ts';
import { GPU_LABEL } from '../line/gpus.ts';
import type { Ask } from './ask.ts';
import { type Brokerage, type Choice, compareOffers, NO_BROKERAGE, offerOf } from './brokerage.ts';
import type { Cursor } from './cursor.ts';
import type { NodeView } from './pool.ts';

export class Placement {
  readonly #loads: ReadonlyMap<NodeName, number>;
  readonly #brokerage: Brokerage;
  /** What it has cost to compare nodes, in looks. */
  looks = 0;

  /** Load average per cpu, for `least_loaded`; absent = 0. */
  constructor(loads: ReadonlyMap<NodeName, number>, brokerage = NO_BROKERAGE) {
    this.#loads = loads;
    this.#brokerage = brokerage;
  }

  /** What spoke for these sites, in their order; null: the rule is one for plain nodes. */
  choice(views: readonly NodeView[], ask: Ask): Choice | null {
    const rule = siteRuleOf(ask.placement);
    if (rule === null) return null;
    return { rule, offers: views.map((view) => offerOf(view, ask, this.#brokerage)) };
  }

  first(views: Iterable<NodeView>, ask: Ask, max: number): NodeView[] {
    const all = [...views];
    this.looks += all.length * LOOKS_PER_SORTED;
    const rule = siteRuleOf(ask.placement);
    if (rule === null) return all.sort((a, b) => this.#compare(a, b, ask)).slice(0, max);
    // One offer for each node, not two for each comparison.
    const offers = all.map((view) => ({ view, offer: offerOf(view, ask, this.#brokerage) }));
    offers.sort((a, b) => compareOffers(rule, a.offer, b.offer) || a.view.order - b.view.order);
    return offers.slice(0, max).map(({ view }) => view);
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

  /** By the rules for plain nodes. */
  #compare(a: NodeView, b: NodeView, ask: Ask): number {
    const { placement } = ask;
    if (placement === 'pack') {
      const spared = ask.sparesGpus === true ? Number(hasGpusFree(a)) - Number(hasGpusFree(b)) : 0;
      return spared || a.order - b.order;
    }
    if (placement === 'spread') return usedPart(a) - usedPart(b) || a.order - b.order;
    const load = (view: NodeView): number => this.#loads.get(view.name) ?? 0;
    return load(a) - load(b) || usedPart(a) - usedPart(b) || a.order - b.order;
  }
}

/** The same for all nodes of a class: their lists stay in the order of placement. */
function hasGpusFree({ free, labels }: NodeView): boolean {
  return free.gpuCount > 0 || labels.has(GPU_LABEL);
}

function usedPart({ free, total }: NodeView): number {
  return total.cpuCount === 0 ? 0 : 1 - free.cpuCount / total.cpuCount;
}
