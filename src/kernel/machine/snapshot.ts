// State as plain data and back: what a restart starts from, and what tests compare. Each noun saves
// its own facts.

import type { Machine } from './machine.ts';
import { buildIndexes, createState } from './nouns.ts';
import type { State } from './state.ts';

/**
 * Raised when `importState` could not read an older one; older forms are converted by the nouns.
 */
export const SNAPSHOT_VERSION = 1;

export type SnapshotData = { readonly v: number };

export function exportState(state: State): SnapshotData {
  const parts = state.machine.nouns.map((noun) => noun.save(state));
  return Object.assign({ v: SNAPSHOT_VERSION }, ...parts) as SnapshotData;
}

/** Lists in it that may be very long, and whose elements nothing changes any more. */
export function longLists({ machine }: State): ReadonlySet<string> {
  return new Set(machine.nouns.flatMap(({ long }) => long ?? []));
}

/** Builds the state again; throws on data that no version of this program wrote. */
export function importState(machine: Machine, data: SnapshotData): State {
  if (data.v !== SNAPSHOT_VERSION) throw new Error(`snapshot version ${data.v} is not known`);
  const state = createState(machine);
  for (const noun of machine.nouns) noun.load(state, data);
  buildIndexes(state);
  return state;
}
