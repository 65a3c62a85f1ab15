// What can be asked about partitions.

import type { PartitionChange } from '../../model/scheduling.ts';

export type PartitionCommand = ChangePartition | ResetPartition;

/** Sets what stays set, whatever the config says, until it is reset. */
export interface ChangePartition {
  readonly kind: 'change_partition';
  readonly partition: string;
  readonly change: PartitionChange;
}

/** Back to what the config says. */
export interface ResetPartition {
  readonly kind: 'reset_partition';
  readonly partition: string;
}
