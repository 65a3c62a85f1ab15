// Applying what was set of partitions by commands.

import type { Of } from '../events.ts';
import type { State } from '../state.ts';

/** Changes add up until the reset. */
export function applyPartitionChanged(
  state: State,
  { partition, change, by }: Of<'partition_changed'>,
  at: number,
): void {
  const before = state.partitions.get(partition)?.change ?? {};
  state.partitions.set(partition, { change: { ...before, ...change }, by, at });
  state.scratch.scheduleDue = true;
}

export function applyPartitionReset(state: State, { partition }: Of<'partition_reset'>): void {
  state.partitions.delete(partition);
  state.scratch.scheduleDue = true;
}
