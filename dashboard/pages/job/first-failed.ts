// Where somebody looks first at a job that failed: its first failed task, and the stream that says why.

import { useEffect, useState } from 'preact/hooks';
import type { JobDetail } from '../../../src/api/jobs.ts';
import { call } from '../../data/client.ts';
import { type Source, type Stream, sizeOf } from '../../parts/output/use-output.ts';
import { isFailure } from '../../pure/state.ts';

const PAGE_TASKS = 1000;

/** The index of the first task that failed, once it is found; null: none has, or nobody knows yet. */
export function useFirstFailed(job: JobDetail, isWanted: boolean): number | null {
  const [index, setIndex] = useState<number | null>(null);
  const hasFailed = Object.entries(job.outcomeCounts).some(
    ([kind, count]) => count > 0 && isFailure(kind),
  );
  const isAsked = isWanted && job.array !== null && hasFailed;
  useEffect(() => {
    if (!isAsked) return undefined;
    const gone = new AbortController();
    void findFailed(job.id, gone.signal).then(
      (found) => gone.signal.aborted || setIndex(found),
      () => setIndex(null), // The first task is shown then, and the list of tasks tells what is wrong.
    );
    return () => gone.abort();
  }, [job.id, isAsked]);
  return index;
}

async function findFailed(id: number, signal: AbortSignal): Promise<number | null> {
  let after: number | undefined;
  do {
    const query = { limit: PAGE_TASKS, after };
    const page = await call('listTasks', { params: { id: String(id) }, query, signal });
    const failed = page.tasks.find(({ outcome }) => outcome !== null && isFailure(outcome.kind));
    if (failed !== undefined) return failed.index;
    after = page.next ?? undefined;
  } while (after !== undefined);
  return null;
}

/** Standard error of what failed, where it has said something there; else standard output. */
export function useTellingStream(
  { id, nodeRank }: Pick<Source, 'id' | 'nodeRank'>,
  hasFailed: boolean,
): Stream {
  const [stream, setStream] = useState<Stream>('stdout');
  useEffect(() => {
    setStream('stdout');
    if (!hasFailed) return undefined;
    const gone = new AbortController();
    void sizeOf(id, { stream: 'stderr', nodeRank }, gone.signal).then(
      (size) => size > 0 && !gone.signal.aborted && setStream('stderr'),
      () => undefined, // Whatever it is, the output that is shown says it.
    );
    return () => gone.abort();
  }, [id, nodeRank, hasFailed]);
  return stream;
}
