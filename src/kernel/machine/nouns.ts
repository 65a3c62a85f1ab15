// The nouns of the controller, in the order in which they are loaded and in which time moves them,
// and what is made of them.

import { batches } from '../../wings/batches/machine/batches.ts';
import { pools } from '../../wings/calls/machine/pools.ts';
import { notices } from '../../wings/notices/machine/notices.ts';
import { notifications } from '../../wings/notify/machine/notifications.ts';
import { pauses } from '../../wings/owner/machine/pauses.ts';
import { pilots } from '../../wings/pilots/machine/pilots.ts';
import type { Event, Facts, NounName, Together } from './declared.ts';
import { head } from './head/head.ts';
import { createIndexes } from './indexes.ts';
import { jobs } from './jobs/jobs.ts';
import { maintenance } from './maintenance/maintenance.ts';
import { nodes } from './nodes/nodes.ts';
import type { CommandTable, EventTable, Noun } from './noun.ts';
import { partitions } from './partitions/partitions.ts';
import { reservations } from './reservations/reservations.ts';
import { createScratch } from './scratch.ts';
import type { State } from './state.ts';
import { tasks } from './tasks/tasks.ts';
import { users } from './users/users.ts';

/**
 * Maintenance moves before jobs do: it looks at ended programs, which may leave memory then. Fails
 * to compile when one is missing that is declared.
 */
const TABLE = {
  head,
  maintenance,
  jobs,
  tasks,
  users,
  nodes,
  pauses,
  partitions,
  reservations,
  batches,
  pools,
  pilots,
  notices,
  notifications,
} satisfies { readonly [N in NounName]: Noun<N, never, object> };

/** What all of them save. */
export type Saved = Together<Parameters<(typeof TABLE)[NounName]['load']>[1]>;

/** Each with what any of them may be asked for. */
export const NOUNS = Object.values(TABLE) as readonly Noun<NounName, Saved, object>[];

export const COMMANDS = merged(NOUNS.map((noun) => noun.commands)) as CommandTable;
const EVENTS = merged(NOUNS.map((noun) => noun.events)) as EventTable;

function merged(parts: readonly object[]): object {
  return Object.assign({}, ...parts);
}

/** Nothing has happened yet. */
export function createState(): State {
  const facts = merged(NOUNS.map((noun) => noun.facts())) as Facts;
  return { ...facts, indexes: createIndexes(), scratch: createScratch() };
}

/** The only code that changes State; live and replay run the same. */
export function apply(state: State, event: Event, at: number): void {
  const change = EVENTS[event.kind] as (state: State, event: Event, at: number) => void;
  change(state, event, at);
  if (event.kind === 'clock_stepped') {
    for (const noun of NOUNS) noun.rebase?.(state, event.byMs);
  }
  state.lastAt = at;
}

/** All that follows from the facts, into a state that has only those. */
export function buildIndexes(state: State): void {
  for (const noun of NOUNS) noun.index?.(state);
}
