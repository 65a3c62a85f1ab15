// What commands have set of partitions.

import type { PartitionChange } from '../../model/scheduling.ts';

export interface PartitionsFacts {
  /** By the partition's name, which the config may have dropped meanwhile. */
  readonly partitions: Map<string, PartitionOverride>;
}

/** What commands have set of a partition. */
export interface PartitionOverride {
  readonly change: PartitionChange;
  readonly by: string;
  readonly at: number;
}
