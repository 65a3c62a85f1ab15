// Waiting for a job or task: answered when what was waited for is a durable fact, else refused with
// `wait.timeout`. Nothing is ever concluded from silence.

import type { WaitReply } from '../../../api/jobs.ts';
import { formatDuration } from '../../../base/duration.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Job } from '../../../machine/jobs/facts.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import type { JobId } from '../../../model/ids.ts';
import { endedAs } from '../../answers/job-state.ts';
import { viewJob } from '../../answers/job-view.ts';
import { Reasons } from '../../answers/reasons.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';
import { checkIndex, findJob, readPlace } from '../find-job.ts';
import type { Services } from '../services.ts';
import { viewTasks } from './list-tasks.ts';

export const TIMEOUT_DEFAULT_MS = 60_000;

export const waitForJob: Handler<'waitForJob'> = async (services, call) => {
  const { engine } = services;
  const waited = await findWaited(engine, call.params.id);
  if (!waited.ok) return waited;
  const timeoutMs = call.query.timeoutMs ?? TIMEOUT_DEFAULT_MS;
  const isMet = condition(call.query.until ?? 'done', waited.value.index);
  const { jobId } = waited.value;
  const end = await until(services, { jobId, isMet, timeoutMs, signal: call.signal });
  if (end !== 'met') return err(refusalOf(end, timeoutMs));
  await engine.settled();
  return viewWaited(engine, waited.value);
};

/** A job or task that somebody waits for. */
export interface Waited {
  readonly jobId: JobId;
  /** Undefined: all tasks of an array. */
  readonly index: number | undefined;
}

/** What `42` or `42[7]` names. */
export async function findWaited(engine: Engine, id: string): Promise<Result<Waited, Refusal>> {
  const place = readPlace(id);
  if (!place.ok) return place;
  const found = await findJob(engine, place.value.jobId);
  if (!found.ok) return found;
  const index = checkIndex(found.value, place.value);
  return index.ok ? ok({ jobId: place.value.jobId, index: index.value }) : index;
}

/** The job as it is, and the task where one was named. */
export async function viewWaited(
  engine: Engine,
  { jobId, index }: Waited,
  reasons = new Reasons(engine),
): Promise<Result<WaitReply, Refusal>> {
  const found = await findJob(engine, jobId);
  if (!found.ok) return found;
  const job = viewJob(engine, found.value, reasons);
  // A plain job has one task, and its epoch and nodes are worth knowing; of an array only if asked.
  const tasks = index === undefined ? [] : await viewTasks(engine, found.value, [index], reasons);
  return ok({ job, task: tasks[0] ?? null });
}

/** Why nothing is answered: the time is up, or the head stops. */
export function refusalOf(end: 'timeout' | 'aborted', timeoutMs: number): Refusal {
  if (end === 'aborted') return refuse('head.stopping', {});
  return refuse('wait.timeout', { limit: formatDuration(timeoutMs) });
}

/** A job that has left memory is done. */
export function condition(
  wanted: 'done' | 'started',
  index: number | undefined,
): (job: Job | undefined) => boolean {
  return (job) => {
    if (job === undefined || job.outcome !== null) return true;
    if (index === undefined) return wanted === 'started' && job.startedAt !== null;
    if (endedAs(job, index) !== undefined) return true;
    return wanted === 'started' && (job.active.get(index)?.startedAt ?? null) !== null;
  };
}

interface JobWait {
  readonly jobId: JobId;
  readonly isMet: (job: Job | undefined) => boolean;
  /** Null = without end. */
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal;
}

/** Looks at the state of now, then after every record about the job. */
export function until(
  { engine, watch, clock }: Services,
  { jobId, isMet, timeoutMs, signal }: JobWait,
): Promise<'met' | 'timeout' | 'aborted'> {
  return new Promise((resolve) => {
    const finish = (end: 'met' | 'timeout' | 'aborted'): void => {
      unwatch();
      timer?.cancel();
      signal.removeEventListener('abort', aborted);
      resolve(end);
    };
    const look = (): void => {
      if (isMet(engine.state.jobs.get(jobId))) finish('met');
    };
    const aborted = (): void => finish('aborted');
    const unwatch = watch.watch(jobId, look);
    const timer = timeoutMs === null ? undefined : clock.after(timeoutMs, () => finish('timeout'));
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    else look();
  });
}
