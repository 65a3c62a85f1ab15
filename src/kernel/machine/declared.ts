// What each noun declares by type: its commands, its events and its facts. The unions that the
// frame works with are made of this table, to which each wing adds its nouns (`declare module`).

import type { HeadEvent } from './head/events.ts';
import type { HeadFacts } from './head/facts.ts';
import type { JobCommand } from './jobs/commands.ts';
import type { JobEvent } from './jobs/events.ts';
import type { JobsFacts } from './jobs/facts.ts';
import type { MaintenanceCommand } from './maintenance/commands.ts';
import type { MaintenanceEvent } from './maintenance/events.ts';
import type { MaintenanceFacts } from './maintenance/facts.ts';
import type { NodeCommand } from './nodes/commands.ts';
import type { NodeEvent } from './nodes/events.ts';
import type { NodesFacts } from './nodes/facts.ts';
import type { PartitionCommand } from './partitions/commands.ts';
import type { PartitionEvent } from './partitions/events.ts';
import type { PartitionsFacts } from './partitions/facts.ts';
import type { PauseCommand } from './pauses/commands.ts';
import type { PauseEvent } from './pauses/events.ts';
import type { ReservationCommand } from './reservations/commands.ts';
import type { ReservationEvent } from './reservations/events.ts';
import type { ReservationsFacts } from './reservations/facts.ts';
import type { TaskCommand } from './tasks/commands.ts';
import type { TaskEvent } from './tasks/events.ts';
import type { TasksFacts } from './tasks/facts.ts';
import type { UserCommand } from './users/commands.ts';
import type { UserEvent } from './users/events.ts';
import type { UsersFacts } from './users/facts.ts';

export interface Declares<C, E, F> {
  readonly commands: C;
  readonly events: E;
  readonly facts: F;
}

/** With those of the wings, each of which adds its own. */
export interface Declared extends OwnDeclared {}

interface OwnDeclared {
  readonly head: Declares<never, HeadEvent, HeadFacts>;
  readonly jobs: Declares<JobCommand, JobEvent, JobsFacts>;
  readonly tasks: Declares<TaskCommand, TaskEvent, TasksFacts>;
  readonly nodes: Declares<NodeCommand, NodeEvent, NodesFacts>;
  /** Pauses have no facts of their own: the nodes have them. */
  readonly pauses: Declares<PauseCommand, PauseEvent, object>;
  readonly users: Declares<UserCommand, UserEvent, UsersFacts>;
  readonly partitions: Declares<PartitionCommand, PartitionEvent, PartitionsFacts>;
  readonly reservations: Declares<ReservationCommand, ReservationEvent, ReservationsFacts>;
  readonly maintenance: Declares<MaintenanceCommand, MaintenanceEvent, MaintenanceFacts>;
}

export type NounName = keyof Declared;

/** Everything that can be asked of the controller. */
export type Command = Declared[NounName]['commands'];

/** What happens without wings. */
export type OwnEvent = OwnDeclared[keyof OwnDeclared]['events'];

/** Everything that happens. */
export type Event = Declared[NounName]['events'];

/** `A & B` of `A | B`. */
export type Together<U> = (U extends unknown ? (one: U) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** Everything that the journal brings back. */
export type Facts = Together<Declared[NounName]['facts']>;
