// How far a batch is, while somebody waits for its end.

import type { Context } from '../../../../kernel/cli/context.ts';
import { ProgressLine, split, type WaitProgress } from '../../../../kernel/cli/progress/tasks.ts';
import type { Counted } from '../../../../kernel/cli/progress/words.ts';
import type { BatchView } from '../../api/batches.ts';

/** Shows the jobs of a batch. */
export function batchProgress(
  context: Context,
  params: Readonly<Record<'namespace' | 'name', string>>,
): WaitProgress {
  return new ProgressLine(context, async () => {
    const api = await context.api();
    return countedJobs(await api.call('getBatch', { params }));
  });
}

/** What a batch's jobs are in, and how they ended. */
export function countedJobs(
  batch: Pick<BatchView, 'title' | 'jobCount' | 'open' | 'ended'>,
): Counted {
  const { title: whose, jobCount: total, open, ended } = batch;
  const done = Object.values(ended).reduce((sum, count) => sum + count, 0);
  return { whose, what: 'jobs', total, ...split({ ...open, done }, ended) };
}
