// What is set aside on a node while a task would run there.

import type { NodeName } from '../../model/ids.ts';
import type { JobSpec } from '../../model/job.ts';
import type { State } from '../state.ts';

/** In words, what a task that starts now could run into; null: nothing but its own reservation. */
export function reservedAhead(
  { reservations }: Pick<State, 'reservations'>,
  node: NodeName,
  { walltimeMs, reservation: own, batch }: Pick<JobSpec, 'walltimeMs' | 'reservation' | 'batch'>,
  at: number,
): string | null {
  const until = walltimeMs === null ? Infinity : at + walltimeMs + (batch?.buildMs ?? 0);
  for (const { id, name, purpose, slots } of reservations.values()) {
    if (id === own) continue;
    const ahead = slots.some((slot) => {
      return Object.hasOwn(slot.shares, node) && slot.from < until && slot.until > at;
    });
    if (ahead) return `${purpose === 'maintenance' ? 'maintenance' : 'reservation'} ${name}`;
  }
  return null;
}
