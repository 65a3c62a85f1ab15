// What running tasks have in memory, as nodes say it with their heartbeats. Kept while the head
// runs.

import type { EpochId, NodeName } from '../../model/ids.ts';
import type { MemoryUse } from '../../model/memory-use.ts';

export class MemoryBook {
  readonly #byNode = new Map<NodeName, ReadonlyMap<EpochId, MemoryUse>>();
  /** Nodes with a task of which the kernel has killed a process. */
  readonly #withKills = new Set<NodeName>();

  /** In place of what the node said before. */
  hear(node: NodeName, uses: readonly MemoryUse[]): void {
    this.#byNode.set(node, new Map(uses.map((use) => [use.epochId, use])));
    if (uses.some(({ kills }) => kills > 0)) this.#withKills.add(node);
    else this.#withKills.delete(node);
  }

  /** Forgets a node that no longer reports: its last report is out of date. */
  forget(node: NodeName): void {
    this.#byNode.delete(node);
    this.#withKills.delete(node);
  }

  get hasKills(): boolean {
    return this.#withKills.size > 0;
  }

  /** Undefined: the node has not said. */
  of(node: NodeName, epochId: EpochId): MemoryUse | undefined {
    return this.#byNode.get(node)?.get(epochId);
  }
}
