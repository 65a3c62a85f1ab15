// Staying with a job that was just submitted: its output, its end, and Ctrl-C meanwhile.

import type { JobView } from '../../api/jobs.ts';
import { asClause } from '../../base/sentence.ts';
import { EXIT_OWN_FAILURE, Failure } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { jobProgress } from '../progress/tasks.ts';
import { failedCount } from './failed-tasks.ts';
import { feedJob } from './feed.ts';
import { type FollowedJob, followJob } from './follow-job.ts';
import type { Input } from './input.ts';
import { exitCodeOf, outcomeWords } from './outcome.ts';
import { waitFor } from './wait-for.ts';

export interface Attended extends FollowedJob {
  readonly follow: boolean;
  /** What is sent to it while it runs; null: nothing. */
  readonly input: Input | null;
}

/** Resolves with the exit code of the job; 125 when we cannot learn it. */
export async function attend(context: Context, job: Attended): Promise<number> {
  const restore = cancelOnInterrupt(context, job.id);
  const feeding = job.input === null ? null : feedJob(context, job.id, job.input);
  feeding?.done.catch((error: Error) => cancelUnfed(context, job.id, error));
  const progress = jobProgress(context, job.array === null ? [] : [job.id]);
  try {
    if (job.follow) await followJob(context, job);
    const { job: view } = await waitFor(context, { id: job.id });
    progress.stop();
    if (view.outcome?.kind !== 'completed') context.note(endWords(job.id, view));
    return exitCodeOf(view);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(`${error.message} Job ${job.id} is not affected.`);
    return EXIT_OWN_FAILURE;
  } finally {
    feeding?.stop();
    progress.stop();
    restore();
  }
}

/** `job 3: failed (exit 1 on n2); 2 of 10 tasks failed`. */
function endWords(id: string, view: JobView): string {
  const failed = view.array === null ? 0 : failedCount(view);
  const many = failed === 0 ? '' : `; ${failed} of ${view.taskCount} tasks failed`;
  return `job ${id}: ${outcomeWords(view, view)}${many}`;
}

/** Half of its input would give half of a result, and look like a whole one. */
async function cancelUnfed(context: Context, id: string, error: Error): Promise<void> {
  context.note(`${asClause(error.message)}; job ${id} is cancelled`);
  await cancel(context, id);
}

async function cancel(context: Context, id: string): Promise<void> {
  try {
    const api = await context.api();
    await api.call('cancelJob', { params: { id } });
  } catch (error) {
    context.note(`cannot cancel job ${id}: ${(error as Error).message}`);
  }
}

/** The first Ctrl-C cancels the job, as one does for a command in front; the second only leaves. */
function cancelOnInterrupt(context: Context, id: string): () => void {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    context.note(`cancelling job ${id}; press again to leave without waiting for its end`);
    void cancel(context, id);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}
