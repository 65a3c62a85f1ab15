// Which batch a job is of, for the archive.

import { batchNameProblem, jobNameProblem, nameProblem } from '../../../kernel/files/names.ts';
import type { Shelving } from '../../../kernel/head/archive/shelving.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import { nameInBatch } from '../../../kernel/model/items.ts';

export const shelving: Shelving = {
  /** None where its name could lead elsewhere. */
  batchShelf({ spec, batch }, index) {
    if (batch === undefined) return null;
    const { namespace, name, version, origin, createdAt } = batch;
    const job = nameInBatch(spec, index) ?? '';
    const isRight =
      nameProblem(namespace) === null &&
      batchNameProblem(name) === null &&
      jobNameProblem(job) === null;
    return isRight ? { namespace, name, version, job, origin, begunAt: createdAt } : null;
  },
  jobNames(state, batch) {
    const found = state.batches.get(formatBatch(batch));
    return found?.createdAt === batch.begunAt ? found.jobs.map(({ name }) => name) : [];
  },
};
