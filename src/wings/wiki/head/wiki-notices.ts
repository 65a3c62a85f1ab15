// Notices to a wiki scheduler that it may ask again: `1234` where jobs have changed, `1235` where
// nodes or partitions have. Many changes make one notice; where nobody listens, it is quiet a
// while.

import { createConnection } from 'node:net';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { Event } from '../../../kernel/machine/declared.ts';
import type { JobId } from '../../../kernel/model/ids.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';

/** The same as Slurm's. */
const QUIET_MS = 120_000;
const CONNECT_MS = 5000;

const JOBS_CHANGED = '1234\0';
const CLUSTER_CHANGED = '1235\0';

const JOB_EVENTS: ReadonlySet<Event['kind']> = new Set([
  ...(['job_submitted', 'job_changed', 'job_held', 'job_released', 'job_done'] as const),
  ...(['dependency_met', 'element_met', 'begin_reached', 'pending_ended'] as const),
  ...(['task_done', 'task_requeued', 'task_held'] as const),
]);

export interface WikiNoticesOptions {
  readonly engine: Pick<Engine, 'onCommitted' | 'state'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly to: { readonly host: string; readonly port: number };
  readonly everyMs: number;
  readonly isMine: (partition: string) => boolean;
}

/** The returned function ends them. */
export function sendWikiNotices(options: WikiNoticesOptions): () => void {
  const { engine, clock, everyMs } = options;
  const due = new Set<string>();
  let isWaiting = false;
  let quietUntil = 0;
  const send = (): void => {
    isWaiting = false;
    const words = [...due];
    due.clear();
    for (const text of words) {
      tell(options, text, () => {
        quietUntil = clock.monotonic() + QUIET_MS;
      });
    }
  };
  const end = engine.onCommitted(({ events }) => {
    for (const event of events) {
      const text = noticeOf(options, event);
      if (text !== null) due.add(text);
    }
    if (due.size === 0 || isWaiting) return;
    isWaiting = true;
    clock.after(Math.max(everyMs, quietUntil - clock.monotonic()), send);
  });
  return () => {
    end();
    due.clear();
  };
}

function noticeOf({ engine, isMine }: WikiNoticesOptions, event: Event): string | null {
  if (/^(node|partition|maintenance|pause)_/.test(event.kind)) return CLUSTER_CHANGED;
  if (!JOB_EVENTS.has(event.kind)) return null;
  const jobId = 'place' in event ? event.place.jobId : 'jobId' in event ? event.jobId : null;
  const job = jobId === null ? undefined : engine.state.jobs.get(jobId as JobId);
  return job !== undefined && isMine(job.spec.partition) ? JOBS_CHANGED : null;
}

function tell({ to, log }: WikiNoticesOptions, text: string, onFailure: () => void): void {
  const socket = createConnection({ ...to, timeout: CONNECT_MS });
  const fail = (why: string): void => {
    socket.destroy();
    onFailure();
    log.warn({ ...to, why }, 'the wiki scheduler does not hear of changes; quiet for a while');
  };
  socket.once('connect', () => socket.end(text));
  socket.once('timeout', () => fail('no answer'));
  socket.once('error', (error) => fail(error.message));
  // Whatever comes back is nothing that anybody reads.
  socket.resume();
}
