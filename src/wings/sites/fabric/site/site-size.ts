// How much a site has whose own scheduler decides, and what its gateway says of that while nodes of
// it come and go.

import { isSame } from '../../../../kernel/base/same.ts';
import { largestOf, type NodeSize } from '../../../../kernel/model/node-sizes.ts';
import type { Resources } from '../../../../kernel/model/resources.ts';
import type { SiteNode } from '../../../../kernel/model/site.ts';
import type { Clock } from '../../../../kernel/ports/clock.ts';
import { totalOf } from '../../adaptors/adaptor.ts';

export interface SiteSize {
  /** What all its nodes have together. */
  readonly resources: Resources;
  /** Sizes of the site's largest nodes. */
  readonly sizes: readonly NodeSize[];
}

/** Those that are down count as one of them: the site takes a job into its queue all the same. */
export function sizeOf(nodes: readonly SiteNode[]): SiteSize {
  const { cpuCount, memoryBytes } = totalOf(nodes);
  const sizes = largestOf(nodes);
  const most = (of: (size: NodeSize) => number): number => Math.max(0, ...sizes.map(of));
  const resources = {
    cpuCount: Math.max(
      cpuCount,
      most((size) => size.cpuCount),
    ),
    memoryBytes: Math.max(
      memoryBytes,
      most((size) => size.memoryBytes ?? 0),
    ),
    gpuCount: 0,
    counted: {},
  };
  return { resources, sizes };
}

/** The head is told in a new session, with all the site has: not for each node that comes back. */
const TOLD_EVERY_MS = 60_000;

export class SizeWatch {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #tell: (size: SiteSize) => void;
  #told: SiteSize;
  #toldAt: number | null = null;

  /** @param first what the head was told at the beginning */
  constructor(clock: Pick<Clock, 'monotonic'>, first: SiteSize, tell: (size: SiteSize) => void) {
    this.#clock = clock;
    this.#told = first;
    this.#tell = tell;
  }

  /** Takes a listing of the site's nodes. */
  look(nodes: readonly SiteNode[]): void {
    if (nodes.length === 0) return;
    const now = this.#clock.monotonic();
    if (this.#toldAt !== null && now - this.#toldAt < TOLD_EVERY_MS) return;
    const size = sizeOf(nodes);
    if (isSame(size, this.#told)) return;
    [this.#told, this.#toldAt] = [size, now];
    this.#tell(size);
  }
}
