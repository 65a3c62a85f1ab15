// What batches add to the machine: their noun, and what a build means to the tasks of a batch.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import { joinBatch, noteInBatch } from './apply.ts';
import { batches } from './batches.ts';
import { batchPlace, buildOutcome } from './build.ts';
import { followBuildFailure } from './build-failure.ts';
import { buildTime, noteReady, preparedNodes } from './ready.ts';
import { rebuildHint } from './rebuild-hint.ts';
import { tellOfBatch } from './tell.ts';

export const part: MachinePart = {
  nouns: [batches],
  givingIds: ['submit_batch', 'retry_batch'],
  hooks: {
    onJobAdded: joinBatch,
    onTasksEnded: noteInBatch,
    onBuilt: noteReady,
    timeBefore: buildTime,
    afterJob: tellOfBatch,
    failedBefore: buildOutcome,
    afterFailedBefore: followBuildFailure,
    hint: rebuildHint,
    launch(task) {
      const batch = batchPlace(task);
      return batch === null ? {} : { batch };
    },
    prepared: preparedNodes,
  },
};
