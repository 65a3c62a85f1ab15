// What happens to batches. How their jobs end is told of the jobs.

import type { BatchName, BatchOrigin } from '../../../kernel/model/batch.ts';
import type { EpochId, NodeName, UserName } from '../../../kernel/model/ids.ts';
import type { BatchJob } from './facts.ts';

export type BatchEvent =
  | {
      readonly kind: 'batch_submitted';
      readonly batch: BatchName;
      readonly owner: UserName;
      readonly origin: BatchOrigin;
      readonly after: readonly string[];
      /** Absent: no solver is built. */
      readonly build?: { readonly key: string; readonly number: number };
      readonly jobs: readonly BatchJob[];
    }
  /** Some of its jobs were submitted again, from files that may have changed. */
  | {
      readonly kind: 'batch_resumed';
      /** The batch's title. */
      readonly batch: string;
      readonly jobs: readonly BatchJob[];
    }
  /** The solver could not be built there: the node gets no more of the batch. */
  | {
      readonly kind: 'build_failed';
      readonly batch: BatchName;
      readonly node: NodeName;
      readonly epochId: EpochId;
    }
  /** What failed runs again: nodes that could not build it are tried again. */
  | { readonly kind: 'failed_builds_forgotten'; readonly batch: string }
  /** The solver is built anew from here on, on every node. */
  | { readonly kind: 'build_renewed'; readonly batch: string; readonly by: string }
  | { readonly kind: 'batch_removed'; readonly batch: string; readonly by: string }
  /** Batches that ended long ago are forgotten. */
  | { readonly kind: 'batches_forgotten'; readonly batches: readonly string[] };
