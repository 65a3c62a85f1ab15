// Verbs that do one thing to several, mostly jobs: each is tried, failures are told, the first one
// decides.

import type { Command } from 'commander';
import type { JobView } from '../../api/jobs.ts';
import type { RouteName } from '../../api/paths.ts';
import { plural } from '../../base/plural.ts';
import { Failure, usage } from '../../model/failure.ts';
import type { TaskState } from '../../model/job.ts';
import type { Context } from '../context.ts';
import { defineVerb, type Verb } from '../verb.ts';
import {
  defineSelection,
  type Selected,
  type SelectOptions,
  selectedWords,
  selectJobs,
} from './select.ts';

/** Requests at a time: a thousand jobs take about a second, and the head has other clients. */
const AT_ONCE = 16;

/** Runs `act` for each; resolves with the exit code of the first failure, or 0. */
export async function forEach(
  context: Context,
  ids: readonly string[],
  act: (id: string) => Promise<void>,
): Promise<number> {
  let exitCode = 0;
  for (const id of ids) {
    try {
      await act(id);
    } catch (error) {
      if (!(error instanceof Failure) || ids.length === 1) throw error;
      context.note(`${id}: ${error.message}`);
      exitCode ||= error.exitCode;
    }
  }
  return exitCode;
}

/**
 * The same for jobs, some at a time. Prints what `act` says, in the order of the jobs. To have
 * ended meanwhile fails none of `chosen`, which nobody has named: as what waited for a job that
 * was cancelled before it.
 */
export async function forEachJob(
  context: Context,
  ids: readonly string[],
  act: (id: string) => Promise<string>,
  chosen: ReadonlySet<string> = new Set(),
): Promise<number> {
  let exitCode = 0;
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const tried = await Promise.allSettled(some.map(act));
    for (const [nth, result] of tried.entries()) {
      if (result.status === 'fulfilled') {
        context.print(result.value);
        continue;
      }
      const { reason } = result;
      const id = some[nth] ?? '';
      if (reason instanceof Failure && reason.code === 'job.already_done' && chosen.has(id)) {
        context.print(reason.message);
        continue;
      }
      if (!(reason instanceof Failure) || ids.length === 1) throw reason;
      context.note(`${id}: ${reason.message}`);
      exitCode ||= reason.exitCode;
    }
  }
  return exitCode;
}

export interface ActionOptions extends SelectOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** What a verb does to a job, for questions and dry runs: `cancel`. */
export interface Action {
  readonly verb: string;
  /** `cancelled`. */
  readonly done: string;
  /** Whether it does anything to a job that is so; what a range or an option chooses must be. */
  readonly acts: (job: Actable) => boolean;
  /** The action cannot be undone: many jobs at once only after the user confirms. */
  readonly isFinal: boolean;
}

/** What decides it; of one task of an array, that task's. */
export type Actable = Pick<JobView, 'state' | 'taskCounts' | 'held' | 'reason'>;

/** Whether any of its tasks is in one of these states. */
export function hasTasks({ taskCounts }: Actable, ...states: TaskState[]): boolean {
  return states.some((state) => (taskCounts[state] ?? 0) > 0);
}

/** Adds the selection of jobs, and ways to look first. */
export function defineAction(command: Command, { isFinal }: Action): void {
  defineSelection(command);
  command.option('--dry-run', 'only show which jobs it would act on');
  if (isFinal)
    command.option('-y, --yes', 'do not ask when a range or options choose several jobs');
}

/** Runs `act` for each job that is meant, unless it is a dry run or the answer is no. */
export async function actOnJobs(
  context: Context,
  { args, options, action }: { args: readonly string[]; options: ActionOptions; action: Action },
  act: (id: string) => Promise<string>,
): Promise<number> {
  const among = { state: 'active', isMeant: action.acts, done: action.done } as const;
  const selected = await selectJobs(context, args, options, among);
  if (options.dryRun) {
    const lines = await Promise.all(selected.map((one) => wouldWords(context, one, action)));
    for (const line of lines) context.print(line);
    return 0;
  }
  const isMany = action.isFinal && selected.filter(({ isNamed }) => !isNamed).length > 1;
  if (isMany && !options.yes && !(await agrees(context, selected, action))) return 1;
  return forEachJob(
    context,
    selected.map(({ id }) => id),
    act,
    new Set(selected.flatMap(({ id, isNamed }) => (isNamed ? [] : id))),
  );
}

/** `Would cancel job 42 train (alice, running).`, also of what was named by its id. */
async function wouldWords(
  context: Context,
  { id, job: known }: Selected,
  { verb, acts }: Action,
): Promise<string> {
  const api = await context.api();
  let job = known ?? (await api.call('getJob', { params: { id } }));
  if (id.includes('[')) {
    // The route answers with that one task, or refuses.
    const { tasks } = await api.call('listTasks', { params: { id }, query: { limit: 1 } });
    const { state = job.state, outcome = null, reason = null } = tasks[0] ?? {};
    job = { ...job, state, outcome, reason, taskCounts: { [state]: 1 } };
  }
  return `Would ${acts(job) ? '' : 'not '}${verb} ${selectedWords({ id, job })}.`;
}

async function agrees(
  context: Context,
  selected: readonly Selected[],
  { verb }: Action,
): Promise<boolean> {
  const jobs = `${selected.length} jobs`;
  const { ask } = context.terminal;
  if (ask === undefined) {
    throw usage(`this would ${verb} ${jobs}; add --yes, or look first with --dry-run`);
  }
  for (const one of selected.slice(0, SHOWN_MAX)) context.note(selectedWords(one));
  if (selected.length > SHOWN_MAX) context.note(`… and ${selected.length - SHOWN_MAX} more`);
  return /^y(es)?$/i.test((await ask(`${verb} these ${jobs}? [y/N] `)).trim());
}

const SHOWN_MAX = 10;

type ActionRoute = Extract<
  RouteName,
  'cancelJob' | 'holdJob' | 'releaseJob' | 'suspendJob' | 'resumeJob' | 'requeueJob'
>;

/** A verb that posts to one route for each job. `said`: what has happened then. */
export function actionVerb(
  route: ActionRoute,
  action: Action,
  said: (id: string, tasks: string) => string,
): Verb {
  return defineVerb<ActionOptions>({
    define: (command) => defineAction(command, action),
    async run({ context, args, options }) {
      return actOnJobs(context, { args, options, action }, async (id) => {
        const api = await context.api();
        const { count } = await api.call(route, { params: { id } });
        return said(id, plural(count, 'task'));
      });
    },
  });
}
