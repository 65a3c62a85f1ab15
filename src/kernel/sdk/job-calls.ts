// What the head is asked about one job, and told to do with it.

import type { HeadConnection } from './line.ts';
import { dropUndefined } from './submission.ts';
import type { Explanation, JobInfo, TaskInfo } from './views.ts';

export function jobInfo(line: HeadConnection, id: string): Promise<JobInfo> {
  return line.call('getJob', { params: { id } });
}

/** Page by page. */
export async function* jobTasks(
  line: HeadConnection,
  id: string,
): AsyncGenerator<TaskInfo, void, undefined> {
  let after: number | undefined;
  for (;;) {
    const query = dropUndefined({ after, limit: 1000 });
    const page = await line.call('listTasks', { params: { id }, query });
    yield* page.tasks;
    if (page.next === null) return;
    after = page.next;
  }
}

export function explainJob(line: HeadConnection, id: string): Promise<Explanation> {
  return line.call('explainJob', { params: { id } });
}

/** Resolves with how many tasks that changed. */
export async function changeJob(
  line: HeadConnection,
  route: 'cancelJob' | 'holdJob' | 'releaseJob',
  id: string,
): Promise<number> {
  return (await line.call(route, { params: { id } })).count;
}
