// The first start of a batch on a node: the one that built its solver there.

import type { BatchJobView } from '../api/batches.ts';

export interface Start {
  readonly id: string;
  readonly epoch: number;
}

type Job = Pick<BatchJobView, 'id' | 'epoch' | 'nodes' | 'startedAt'>;

/** Looks at all jobs, page by page; null: none has started there. */
export async function firstStartOn(
  node: string,
  pageAfter: (
    after: number | undefined,
  ) => Promise<{ readonly jobs: readonly Job[]; readonly next: number | null }>,
): Promise<Start | null> {
  let first: Job | null = null;
  let after: number | undefined;
  do {
    const { jobs, next } = await pageAfter(after);
    for (const job of jobs) {
      if (job.startedAt === null || !job.nodes.includes(node)) continue;
      if (first === null || job.startedAt < (first.startedAt ?? 0)) first = job;
    }
    after = next ?? undefined;
  } while (after !== undefined);
  return first === null ? null : { id: first.id, epoch: first.epoch };
}
