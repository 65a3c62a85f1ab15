// State as plain data and back: what a restart starts from, and what tests compare. Each noun saves
// its own facts.

import type { Machine } from './machine.ts';
import type { Brief } from './noun.ts';
import { buildIndexes, createState } from './nouns.ts';
import type { State } from './state.ts';

/**
 * Raised when an older release could not read a newer one; older forms are converted by the nouns.
 * 2: elements of long lists leave out what the one before has as well.
 */
export const SNAPSHOT_VERSION = 2;
const WHOLE_VERSION = 1;

export type SnapshotData = { readonly v: number };

export function exportState(state: State): SnapshotData {
  const parts = state.machine.nouns.map((noun) => noun.save(state));
  return Object.assign({ v: WHOLE_VERSION }, ...parts) as SnapshotData;
}

/** Lists that may be very long, whose elements change no more, with what makes them shorter. */
export function longLists({ machine }: State): ReadonlyMap<string, Brief> {
  const lists = machine.nouns.flatMap(({ long, brief = whole }) => {
    return long === undefined ? [] : [[long, brief] as const];
  });
  return new Map(lists);
}

function whole(element: object): object {
  return element;
}

/** Builds the state again; throws on data that no version of this program wrote. */
export function importState(machine: Machine, data: SnapshotData): State {
  if (data.v !== SNAPSHOT_VERSION && data.v !== WHOLE_VERSION)
    throw new Error(`snapshot version ${data.v} is not known`);
  const state = createState(machine);
  for (const noun of machine.nouns) noun.load(state, data);
  buildIndexes(state);
  return state;
}
