// What can be done to jobs, with the command that does the same.

import type { JobView } from '../../../api/jobs.ts';
import type { RouteName } from '../../../api/paths.ts';
import { call, HeadError } from '../../data/client.ts';
import { go } from '../../data/route.ts';
import { sendOnce } from '../../data/send-once.ts';
import { isOperator, me } from '../../data/session.ts';
import type { Action } from '../../parts/actions.tsx';
import { actionCommand } from '../../pure/command-line.ts';
import { askAboutJobs } from '../../pure/questions.ts';
import { some } from '../../pure/words.ts';

interface JobAction {
  readonly label: string;
  readonly verb: string;
  readonly route: Extract<
    RouteName,
    'cancelJob' | 'holdJob' | 'releaseJob' | 'suspendJob' | 'resumeJob' | 'requeueJob'
  >;
  readonly done: string;
  readonly fits: (job: JobView) => boolean;
  readonly warning?: string;
}

const has = (job: JobView, state: string): boolean => (job.taskCounts[state] ?? 0) > 0;

const JOB_ACTIONS: readonly JobAction[] = [
  {
    label: 'Cancel',
    verb: 'cancel',
    route: 'cancelJob',
    done: 'cancelled',
    fits: ({ state }) => state !== 'done',
    warning: 'What waits is taken out of the queue, what runs is ended.',
  },
  {
    label: 'Hold',
    verb: 'hold',
    route: 'holdJob',
    done: 'held',
    fits: (job) => has(job, 'pending') && !job.held,
  },
  {
    label: 'Release',
    verb: 'release',
    route: 'releaseJob',
    done: 'released',
    fits: ({ held, state }) => held && state !== 'done',
  },
  {
    label: 'Suspend',
    verb: 'suspend',
    route: 'suspendJob',
    done: 'told to suspend',
    fits: (job) => has(job, 'running'),
  },
  {
    label: 'Resume',
    verb: 'resume',
    route: 'resumeJob',
    done: 'told to resume',
    fits: (job) => has(job, 'suspended'),
  },
  {
    label: 'Requeue',
    verb: 'requeue',
    route: 'requeueJob',
    done: 'requeued',
    fits: (job) => has(job, 'running') || has(job, 'suspended'),
    warning: 'What runs is ended and starts again from the beginning.',
  },
];

/** Requests at once. */
const AT_ONCE = 8;

function mayActOn({ owner }: JobView): boolean {
  return isOperator() || me.value?.name === owner;
}

/** For several jobs: each action with those that it fits. */
export function bulkActions(jobs: readonly JobView[]): Action[] {
  return JOB_ACTIONS.flatMap((deed) => {
    const fitting = jobs.filter((job) => mayActOn(job) && deed.fits(job));
    if (fitting.length === 0) return [];
    const ids = fitting.map(({ id }) => id);
    const { label, verb, warning, route, done } = deed;
    const command = `${actionCommand(verb, ids)}${verb === 'cancel' && ids.length > 1 ? ' --yes' : ''}`;
    const run = () =>
      forAll(ids, (id) => call(route, { params: { id: String(id) }, body: {} }), done);
    const words = ids.length === 1 ? label : `${label} ${ids.length}`;
    const isBad = verb === 'cancel';
    const asked = askAboutJobs(label, fitting);
    return [{ label: words, command, run, isBad, ...asked, ...(warning ? { warning } : {}) }];
  });
}

/** True for the job's owner: a job that runs again runs as whoever asks, so operators may not. */
function mayRunAgain({ state, source, owner }: JobView): boolean {
  return state === 'done' && source === 'grid' && me.value?.name === owner;
}

function isShort(job: JobView): boolean {
  return (job.outcomeCounts['completed'] ?? 0) < job.taskCount;
}

/** For several jobs: what did not complete runs again; of one all of it, where it completed. */
export function retryActions(jobs: readonly JobView[]): Action[] {
  const [first] = jobs;
  if (jobs.length === 1 && first !== undefined) return againActions(first);
  const fitting = jobs.filter((job) => mayRunAgain(job) && isShort(job));
  if (fitting.length === 0) return [];
  const ids = fitting.map(({ id }) => id);
  return [
    {
      label: `Retry ${ids.length}`,
      command: actionCommand('retry', ids),
      ...askAboutJobs('Retry', fitting),
      warning: 'What did not complete of each runs again, as a new job.',
      run: () => forAll(ids, (id) => sendAgain(id, {}), 'run again'),
    },
  ];
}

/** For one job, with running it again: what did not complete, or all of it. */
export function jobActions(job: JobView): Action[] {
  return [...bulkActions([job]), ...againActions(job)];
}

function againActions(job: JobView): Action[] {
  if (!mayRunAgain(job)) return [];
  const hasSome = (job.outcomeCounts['completed'] ?? 0) > 0;
  const { id } = job;
  const resubmit = {
    label: 'Resubmit',
    command: `weft retry --all ${id}`,
    ...askAboutJobs('Resubmit', [job]),
    run: () => runAgain(job, 'all'),
    warning: `All of job ${id} runs again, as a new job.`,
  };
  // Where nothing completed, both are the same.
  if (!isShort(job) || !hasSome) return [resubmit];
  const retry = {
    label: 'Retry',
    command: `weft retry ${id}`,
    run: () => runAgain(job, 'rest'),
    ...askAboutJobs('Retry', [job]),
    warning: `What did not complete of job ${id} runs again, as a new job.`,
  };
  return [retry, resubmit];
}

async function runAgain({ id }: JobView, what: 'all' | 'rest'): Promise<string> {
  const { jobId } = await sendAgain(id, what === 'all' ? { all: true } : {});
  go(['jobs', jobId]);
  return `${what === 'all' ? 'All' : 'What did not complete'} of job ${id} runs again as job ${jobId}.`;
}

function sendAgain(id: number, body: { readonly all?: boolean }) {
  const params = { id: String(id) };
  return sendOnce(JSON.stringify(['retryJob', params, body]), (headers) =>
    call('retryJob', { params, body, headers }),
  );
}

async function forAll(
  ids: readonly number[],
  act: (id: number) => Promise<unknown>,
  done: string,
): Promise<string> {
  const left = [...ids];
  const failures: HeadError[] = [];
  const work = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        await act(id);
      } catch (error) {
        if (!(error instanceof HeadError)) throw error;
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const [first] = failures;
  const good = ids.length - failures.length;
  if (first === undefined) {
    const what = ids.length === 1 ? `Job ${ids[0]} is` : `${some(good, 'job')} are`;
    return `${what} ${done}.`;
  }
  if (ids.length === 1) throw first;
  const message = `${good} of ${some(ids.length, 'job')} ${done}; the first refusal: ${first.message}`;
  throw new HeadError({ code: first.code, kind: first.kind, message, hint: first.hint });
}
