// Partitions as a noun: what commands have set of them.

import type { Noun } from '../noun.ts';
import { applyPartitionChanged, applyPartitionReset } from './apply.ts';
import { decideChangePartition, decideResetPartition } from './change.ts';
import type { PartitionOverride } from './facts.ts';

export interface PartitionData {
  readonly partitions: readonly (readonly [string, PartitionOverride])[];
}

export const partitions: Noun<'partitions', PartitionData> = {
  commands: {
    change_partition: decideChangePartition,
    reset_partition: decideResetPartition,
  },
  events: {
    partition_changed: applyPartitionChanged,
    partition_reset: applyPartitionReset,
  },
  facts: () => ({ partitions: new Map() }),
  save: (state) => ({ partitions: [...state.partitions] }),
  load(state, data) {
    for (const [name, override] of data.partitions) state.partitions.set(name, override);
  },
};
