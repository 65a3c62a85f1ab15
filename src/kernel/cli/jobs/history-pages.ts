// The pages of the accounting records: jobs, newest first, and the rest of an array's tasks when
// one page cannot hold them all.

import type { HistoryReply } from '../../api/history.ts';
import type { Api, CallOptions } from '../../connect/api.ts';

/** Jobs asked for at once. */
const PAGE = 1000;

/** Until `jobsMax` jobs are told; a job whose tasks go on is first on the next page again. */
export async function* historyPages(
  api: Api,
  filter: NonNullable<CallOptions<'history'>['query']>,
  jobsMax: number,
): AsyncIterable<HistoryReply> {
  let told = 0;
  let from: { readonly before?: number; readonly afterTask?: string } = {};
  for (;;) {
    const query = { ...filter, ...from, limit: Math.min(PAGE, jobsMax - told) };
    const page: HistoryReply = await api.call('history', { query });
    yield page;
    // A head that says nothing of tasks must not be asked for ever.
    const goesOn = typeof page.nextTask === 'string';
    told += page.jobs.length - (goesOn ? 1 : 0);
    if (typeof page.nextTask === 'string') from = { afterTask: page.nextTask };
    else if (page.next === null || told >= jobsMax) return;
    else from = { before: page.next };
  }
}
