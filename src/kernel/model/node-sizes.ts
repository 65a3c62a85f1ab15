// How large a single node of a site is whose own scheduler decides: to us it is one node with all
// that its nodes have together, and none of them has that.

import type { Resources } from './resources.ts';
import type { SiteNode } from './site.ts';

/** `memoryBytes` null: the site does not say. */
export interface NodeSize {
  readonly cpuCount: number;
  readonly memoryBytes: number | null;
}

/** Sites have few kinds of nodes. */
const SIZES_MAX = 32;

/** The sizes that no other node of the site exceeds in all; nodes that are down will be back. */
export function largestOf(nodes: readonly Pick<SiteNode, keyof NodeSize>[]): readonly NodeSize[] {
  const sizes: NodeSize[] = [];
  const sorted = nodes.toSorted(
    (a, b) => b.cpuCount - a.cpuCount || memoryOf(b) - memoryOf(a) || 0,
  );
  let most = -1;
  for (const { cpuCount, memoryBytes } of sorted) {
    const memory = memoryOf({ memoryBytes });
    if (cpuCount < 1 || memory <= most) continue;
    most = memory;
    sizes.push({ cpuCount, memoryBytes });
  }
  return sizes.slice(0, SIZES_MAX);
}

/** Whether one of its nodes, empty, could hold this; without sizes nothing is in the way. */
export function fitsOneOf(sizes: readonly NodeSize[] | undefined, wanted: Resources): boolean {
  if (sizes === undefined || sizes.length === 0) return true;
  return sizes.some((size) => {
    return wanted.cpuCount <= size.cpuCount && wanted.memoryBytes <= memoryOf(size);
  });
}

/** The largest that is there, by its cpus; undefined: no sizes are known. */
export function largest(sizes: readonly NodeSize[] | undefined): NodeSize | undefined {
  return sizes?.[0];
}

function memoryOf({ memoryBytes }: Pick<NodeSize, 'memoryBytes'>): number {
  return memoryBytes ?? Infinity;
}
