// Everything that can be asked of the controller. Imperative; may be refused. The actor comes from
// the authentication, beside the command, never inside it.

import type { JobId } from '../model/ids.ts';
import type { Reservation } from '../model/reservation.ts';
import type { JobCommand } from './jobs/commands.ts';
import type { MaintenanceCommand } from './maintenance/commands.ts';
import type { NodeCommand } from './nodes/commands.ts';
import type { PartitionCommand } from './partitions/commands.ts';
import type { ReservationCommand } from './reservations/commands.ts';
import type { TaskCommand } from './tasks/commands.ts';
import type { UserCommand } from './users/commands.ts';

/** Each noun declares its own. */
export type Command =
  | JobCommand
  | TaskCommand
  | NodeCommand
  | UserCommand
  | PartitionCommand
  | ReservationCommand
  | MaintenanceCommand;

/** What a command answers when it is not refused. */
export type Reply =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  | { readonly kind: 'submitted'; readonly jobId: JobId; readonly again: boolean }
  /** How many tasks it changed. */
  | { readonly kind: 'changed'; readonly count: number }
  | { readonly kind: 'maintenance_planned'; readonly id: string }
  | { readonly kind: 'done' };
