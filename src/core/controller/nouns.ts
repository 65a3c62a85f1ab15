// The nouns of the controller, in the order in which they are loaded and in which time moves them,
// and the tables that are made of them.

import type { Event } from './events.ts';
import { head } from './head/head.ts';
import { jobs } from './jobs/jobs.ts';
import { maintenance } from './maintenance/maintenance.ts';
import { nodes } from './nodes/nodes.ts';
import type { CommandTable, EventTable } from './noun.ts';
import { partitions } from './partitions/partitions.ts';
import { reservations } from './reservations/reservations.ts';
import type { State } from './state.ts';
import { tasks } from './tasks/tasks.ts';
import { users } from './users/users.ts';

/** Maintenance moves before jobs do: it looks at ended programs, which may leave memory then. */
export const NOUNS = [
  head,
  maintenance,
  jobs,
  tasks,
  users,
  nodes,
  partitions,
  reservations,
] as const;

/** Fails to compile when a command has no noun. */
export const COMMANDS: CommandTable = {
  ...jobs.commands,
  ...tasks.commands,
  ...nodes.commands,
  ...users.commands,
  ...partitions.commands,
  ...reservations.commands,
  ...maintenance.commands,
};

/** Fails to compile when an event has no noun. */
const EVENTS: EventTable = {
  ...head.events,
  ...jobs.events,
  ...tasks.events,
  ...nodes.events,
  ...users.events,
  ...partitions.events,
  ...reservations.events,
  ...maintenance.events,
};

/** The only code that changes State; live and replay run the same. */
export function apply(state: State, event: Event, at: number): void {
  const change = EVENTS[event.kind] as (state: State, event: Event, at: number) => void;
  change(state, event, at);
}
