// What a head accepts while the disk is full and it writes from the reserve of its store.

import type { Input } from '../machine/controller.ts';
import type { Command } from '../machine/declared.ts';
import type { State } from '../machine/state.ts';

/** In the log, in refusals and for whoever asks. */
export const SHORTAGE =
  "the head's disk is full, or its quota is used up; until there is room, jobs can only be listed and cancelled";

/** What only ends work, and what agents say of it, is let through on a full disk. */
export function makesWork(input: Input): boolean {
  if (input.kind === 'command') return !ENDING.has(input.command.kind);
  return input.kind === 'tick' || input.kind === 'schedule';
}

/** A site's own jobs get ids of ours; it lists all of them again. */
export function bringsWork({ machine }: Pick<State, 'machine'>, { kind }: Input): boolean {
  return machine.makingJobs.has(kind);
}

const ENDING: ReadonlySet<Command['kind']> = new Set([
  'cancel_task',
  'signal_task',
  'hold_job',
  'suspend_task',
  'drain_node',
  'revoke_token',
  'cancel_reservation',
  'cancel_maintenance',
]);
