// What commands change of partitions.

import type { PartitionChange } from '../../model/scheduling.ts';

export type PartitionEvent =
  | {
      readonly kind: 'partition_changed';
      readonly partition: string;
      readonly change: PartitionChange;
      readonly by: string;
    }
  | { readonly kind: 'partition_reset'; readonly partition: string; readonly by: string };
