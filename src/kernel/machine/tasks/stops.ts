// Who keeps a task stopped. A task stands still while anybody does; each party adds and takes away
// only its own stop, so that none undoes what another wants.

import type { NodeName } from '../../model/ids.ts';
import type { Task } from '../jobs/facts.ts';
import { pauseStopper } from '../pauses/facts.ts';

export function isStopped({ stops }: Pick<Task, 'stops'>): boolean {
  return stops.size > 0;
}

/**
 * Whether a node must be told to stop it. What a node's own pause keeps stopped there it keeps
 * stopped by itself, and wakes by itself: it may have to while nobody can tell it.
 */
export function isStoppedFor({ stops }: Pick<Task, 'stops'>, node: NodeName): boolean {
  return stops.size > (stops.has(pauseStopper(node)) ? 1 : 0);
}

/** In words, for whom the scheduler told it to stop; null: it did not. */
export function preemptedFor({ stops }: Pick<Task, 'stops'>): string | null {
  return stops.get('scheduler') ?? null;
}
