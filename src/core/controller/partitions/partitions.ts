// Partitions as a noun: what commands have set of them.

import type { Noun } from '../noun.ts';
import type { PartitionOverride } from '../state.ts';
import { applyPartitionChanged, applyPartitionReset } from './apply.ts';
import { decideChangePartition, decideResetPartition } from './change.ts';
import type { PartitionCommand } from './commands.ts';
import type { PartitionEvent } from './events.ts';

export interface PartitionData {
  /** Absent in snapshots of 0.1.0. */
  readonly partitions?: readonly (readonly [string, PartitionOverride])[];
}

export const partitions: Noun<PartitionCommand['kind'], PartitionEvent['kind'], PartitionData> = {
  commands: {
    change_partition: decideChangePartition,
    reset_partition: decideResetPartition,
  },
  events: {
    partition_changed: applyPartitionChanged,
    partition_reset: applyPartitionReset,
  },
  save: (state) => ({ partitions: [...state.partitions] }),
  load(state, data) {
    for (const [name, override] of data.partitions ?? []) state.partitions.set(name, override);
  },
};
