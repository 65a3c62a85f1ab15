// Nodes that are ready for some tasks: these need no time to be made ready there, and go there
// first.

import type { NodeName } from '../../model/ids.ts';
import { type Ask, endOn } from './ask.ts';
import type { Lane } from './lane.ts';

/** By a label that requests have for which the nodes are ready. */
export type Prepared = ReadonlyMap<string, ReadonlySet<NodeName>>;

export const NOTHING_PREPARED: Prepared = new Map();

/** Undefined: no node is better for it than the others. */
export function preparedFor(
  prepared: Prepared,
  { request }: Ask,
): ReadonlySet<NodeName> | undefined {
  if (prepared.size === 0) return undefined;
  for (const label of request.labels) {
    const names = prepared.get(label);
    if (names !== undefined) return names;
  }
  return undefined;
}

/** How long it may run there. Null: nobody knows. */
export function walltimeOn(prepared: Prepared, name: NodeName, ask: Ask): number | null {
  const { walltimeMs, buildMs = 0 } = ask;
  if (walltimeMs === null || buildMs === 0) return walltimeMs;
  return preparedFor(prepared, ask)?.has(name) ? walltimeMs - buildMs : walltimeMs;
}

/** When it is over there if it begins at `at`, as far as one can know. */
export function endWith(
  prepared: Prepared,
  { lane, ask, at }: { readonly lane: Lane; readonly ask: Ask; readonly at: number },
): number {
  const walltimeMs = walltimeOn(prepared, lane.view.name, ask);
  return endOn(lane, walltimeMs === ask.walltimeMs ? ask : { ...ask, walltimeMs }, at);
}
