// What batches add to the `Cluster` of a program.

import { addMethods } from '../../../kernel/sdk/cluster-methods.ts';
import type { Batch as BatchDefinition } from './batch.ts';
import type { BatchOptions } from './options.ts';
import { submitBatch } from './submit-batch.ts';
import { SubmittedBatch } from './submitted-batch.ts';

declare module '../../../kernel/sdk/cluster.ts' {
  interface ClusterMethods {
    /**
     * Submits a batch: the path of a batch file, or what one says (`weft/batch` has its types). Its
     * files are sent before, as far as the head lacks them.
     */
    batch(batch: string | BatchDefinition, options?: BatchOptions): Promise<SubmittedBatch>;

    /** A handle of a batch that is there: `namespace/name`, or with `@version` behind. */
    findBatch(title: string): SubmittedBatch;
  }
}

addMethods<'batch' | 'findBatch'>({
  batch: (line, batch, options = {}) => submitBatch(line, batch, options),
  findBatch: (line, title) => new SubmittedBatch(line, title),
});
