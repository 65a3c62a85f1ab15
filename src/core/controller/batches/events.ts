// What happens to batches. How their jobs end is told of the jobs.

import type { BatchName } from '../../model/batch.ts';
import type { UserName } from '../../model/ids.ts';
import type { BatchJob, BatchOrigin } from './facts.ts';

export type BatchEvent =
  | {
      readonly kind: 'batch_submitted';
      readonly batch: BatchName;
      readonly owner: UserName;
      readonly origin: BatchOrigin;
      readonly after: readonly string[];
      readonly jobs: readonly BatchJob[];
    }
  /** Some of its jobs were submitted again, from files that may have changed. */
  | {
      readonly kind: 'batch_resumed';
      /** Its title. */
      readonly batch: string;
      readonly jobs: readonly BatchJob[];
    }
  | { readonly kind: 'batch_removed'; readonly batch: string; readonly by: string }
  /** They ended long ago. */
  | { readonly kind: 'batches_forgotten'; readonly batches: readonly string[] };
