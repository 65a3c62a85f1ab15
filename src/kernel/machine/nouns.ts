// The nouns of the kernel, in the order in which they are loaded and in which time moves them, and
// the state that is made of them and of those of the wings.

import type { Event, Facts } from './declared.ts';
import { head } from './head/head.ts';
import { createIndexes, type Indexes } from './indexes.ts';
import { jobs } from './jobs/jobs.ts';
import { assembled, type Machine, merged } from './machine.ts';
import { maintenance } from './maintenance/maintenance.ts';
import { nodes } from './nodes/nodes.ts';
import type { MachinePart } from './part.ts';
import { partitions } from './partitions/partitions.ts';
import { pauses } from './pauses/pauses.ts';
import { reservations } from './reservations/reservations.ts';
import { createScratch, type Scratch } from './scratch.ts';
import type { State } from './state.ts';
import { tasks } from './tasks/tasks.ts';
import { users } from './users/users.ts';

/** Maintenance moves before jobs do: it looks at ended programs, which may leave memory then. */
const OWN = [head, maintenance, jobs, tasks, users, nodes, pauses, partitions, reservations];

/** The machine of a head with these wings. */
export function createMachine(parts: readonly MachinePart[]): Machine {
  return assembled(OWN, parts);
}

/** Nothing has happened yet. */
export function createState(machine: Machine): State {
  const facts = merged(machine.nouns.map((noun) => noun.facts())) as Facts;
  const { parts } = machine;
  const indexes = merged([createIndexes(), ...parts.map(({ indexes }) => indexes?.() ?? {})]);
  const scratch = merged([createScratch(), ...parts.map(({ scratch }) => scratch?.() ?? {})]);
  return { ...facts, machine, indexes: indexes as Indexes, scratch: scratch as Scratch };
}

/** The only code that changes State; live and replay run the same. */
export function apply(state: State, event: Event, at: number): void {
  const { events, nouns } = state.machine;
  const change = (events as Changes)[event.kind] as Change;
  change(state, event, at);
  if (event.kind === 'clock_stepped') {
    for (const noun of nouns) noun.rebase?.(state, event.byMs);
  }
  state.lastAt = at;
}

type Change = (state: State, event: Event, at: number) => void;
type Changes = Readonly<Record<Event['kind'], Change>>;

/** All that follows from the facts, into a state that has only those. */
export function buildIndexes(state: State): void {
  for (const noun of state.machine.nouns) noun.index?.(state);
}
