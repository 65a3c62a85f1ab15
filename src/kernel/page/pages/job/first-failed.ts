// Where somebody looks first at an array that failed: the tasks that did, the first one before all.

import { useEffect, useState } from 'preact/hooks';
import type { JobDetail, TaskView } from '../../../api/jobs.ts';
import { call } from '../../data/client.ts';
import { failedCount } from '../../pure/state.ts';

/** The index of the first task that failed, once found; null: none has, or nobody knows yet. */
export function useFirstFailed(job: JobDetail, how: 'asked' | 'unasked'): number | null {
  const [index, setIndex] = useState<number | null>(null);
  const isAsked = how === 'asked' && job.array !== null && failedCount(job) > 0;
  useEffect(() => {
    if (!isAsked) return undefined;
    const gone = new AbortController();
    void failedTasks(job.id, { limit: 1, signal: gone.signal }).then(
      ([first]) => gone.signal.aborted || setIndex(first?.index ?? null),
      () => setIndex(null), // The first is shown then, and the list tells what is wrong.
    );
    return () => gone.abort();
  }, [job.id, isAsked]);
  return index;
}

/** The next task that failed behind this one; behind the last the first; null: none has. */
export async function nextFailed(id: number, index: number | null): Promise<number | null> {
  const [next] = await failedTasks(id, { limit: 1, after: index ?? -1 });
  if (next !== undefined || index === null) return next?.index ?? null;
  return nextFailed(id, null);
}

/** Those that failed, by index, so many at most. Throws `HeadError`. */
export async function failedTasks(
  id: number,
  of: { readonly limit: number; readonly after?: number; readonly signal?: AbortSignal },
): Promise<TaskView[]> {
  const { limit, signal } = of;
  const found: TaskView[] = [];
  let after = of.after;
  do {
    const query = { failed: true, limit: limit - found.length, after };
    const params = { id: String(id) };
    const page = await call('listTasks', { params, query, ...(signal ? { signal } : {}) });
    found.push(...page.tasks);
    after = page.next ?? undefined;
  } while (after !== undefined && found.length < limit);
  return found;
}
