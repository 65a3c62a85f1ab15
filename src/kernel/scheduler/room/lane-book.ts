// The futures of nodes in one cycle, each made when it is asked for, and what is set aside of them.

import type { NodeName } from '../../model/ids.ts';
import { LOOKS_PER_LANE } from '../../model/limits.ts';
import { Lane, type Window } from './lane.ts';
import type { NodeView } from './pool.ts';
import type { Views } from './views.ts';
import { byNode } from './windows.ts';

export class LaneBook {
  readonly #views: Views;
  readonly #now: number;
  readonly #windows: ReadonlyMap<NodeName, readonly Window[]>;
  readonly #lanes = new Map<NodeName, Lane>();
  readonly #claimed = new Set<NodeName>();
  readonly #promised = new Set<NodeName>();
  /** What making them has cost. */
  looks = 0;

  constructor(views: Views, windows: readonly Window[], now: number) {
    this.#views = views;
    this.#now = now;
    this.#windows = byNode(windows.filter((window) => window.to > now));
    for (const name of this.#windows.keys()) if (views.get(name)) this.#claimed.add(name);
  }

  /** Nodes of which something is set aside for later: free now is not enough there. */
  get claimed(): ReadonlySet<NodeName> {
    return this.#claimed;
  }

  of(name: NodeName): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      this.looks += LOOKS_PER_LANE;
      lane = new Lane(this.#views.get(name) as NodeView, this.windowsOn(name), this.#now);
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /** Undefined: nobody has asked for it yet. */
  made(name: NodeName): Lane | undefined {
    return this.#lanes.get(name);
  }

  /** What is set aside of a node, from now on. */
  windowsOn(name: NodeName): readonly Window[] {
    return this.#windows.get(name) ?? [];
  }

  /** Something of it is set aside for a task in this cycle. */
  promise(name: NodeName): void {
    this.#claimed.add(name);
    this.#promised.add(name);
  }

  isPromised(name: NodeName): boolean {
    return this.#promised.has(name);
  }
}
