// `scancel`: ends jobs, or signals them.

import { constants } from 'node:os';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import type { SignalTo } from '../../../kernel/model/job.ts';
import { ARRAY_TASKS_MAX } from '../../../kernel/model/limits.ts';
import { DEFAULT_QOS } from '../../../kernel/model/scheduling.ts';
import { parseSignal } from '../../../kernel/model/submission-values.ts';
import { endStep } from '../../steps/cli/end-step.ts';
import { readId, readStep } from '../core/ids.ts';
import { SLURM_MARK } from '../core/mark.ts';
import type { OptionRow } from '../core/option-table.ts';
import { isState } from '../core/states.ts';
import { mayHaveAccount } from './accounts.ts';
import { apart, listJobs, refuseNodes, rowsOf } from './job-rows.ts';
import {
  clusterOf,
  hostsOf,
  listOf,
  orSaid,
  readWords,
  refuseStates,
  speaking,
} from './speaking.ts';

const value = { value: 'always' } as const;
export const CANCEL_OPTIONS = [
  { long: 'name', short: 'n', ...value, words: 'with this name' },
  { long: 'jobname', ...value, words: 'the same' },
  { long: 'user', short: 'u', ...value, words: 'of this user' },
  { long: 'me', words: 'your own' },
  { long: 'state', short: 't', ...value, words: 'in this state' },
  { long: 'partition', short: 'p', ...value, words: 'of this partition' },
  { long: 'qos', short: 'q', ...value, words: 'of this quality of service' },
  { long: 'nodelist', short: 'w', ...value, words: 'that use one of these nodes' },
  {
    long: 'signal',
    short: 's',
    ...value,
    words: 'send this to what the script has started, and end nothing',
  },
  { long: 'batch', short: 'b', words: 'the signal goes to the script alone' },
  { long: 'full', short: 'f', words: 'the signal goes to all processes' },
  { long: 'quiet', short: 'Q', words: 'do not report jobs that have ended' },
  { long: 'verbose', short: 'v', words: 'report jobs that have ended, or are unknown' },
  { long: 'clusters', short: 'M', ...value, words: 'the name of this one, or `all`' },
  { long: 'interactive', short: 'i', kind: 'refused', words: 'look first with squeue' },
] as const satisfies readonly OptionRow[];

export const summary = 'Cancel or signal jobs, as scancel of Slurm does.';
export const verb = speaking('scancel', scancel);

/** Variables that stand for options (scancel(1), "ENVIRONMENT VARIABLES"). */
const SAID = {
  name: 'SCANCEL_NAME',
  user: 'SCANCEL_USER',
  state: 'SCANCEL_STATE',
  partition: 'SCANCEL_PARTITION',
  qos: 'SCANCEL_QOS',
} as const;

async function scancel(context: Context, words: readonly string[]): Promise<number> {
  const { given: typed, operands } = readWords(CANCEL_OPTIONS, words);
  const given = orSaid(typed, context, SAID);
  await clusterOf(context, given.clusters);
  const named = operands
    .flatMap((one) => one.split(/,(?![^[]*\])/))
    .map((one) => {
      const step = readStep(one);
      if (step !== null) return step;
      const id = readId(one);
      if (!id.ok) throw usage(id.error);
      return id.value;
    });
  const name = given.name ?? given.jobname;
  const { user, me, state, partition, qos, nodelist } = given;
  const isFiltered = [name, user, me, state, partition, qos, nodelist].some(
    (one) => one !== undefined,
  );
  if (named.length === 0 && !isFiltered) throw usage('No job identification provided');
  const ids = isFiltered ? await filtered(context, given, named) : named;
  let code = 0;
  for (const id of ids) code = (await one(context, id, given)) || code;
  return code;
}

type Given = ReturnType<typeof readWords<(typeof CANCEL_OPTIONS)[number]['long']>>['given'];

async function filtered(
  context: Context,
  given: Given,
  named: readonly string[],
): Promise<string[]> {
  const api = await context.api();
  const owner = given.me === undefined ? given.user : (await api.call('whoami')).name;
  if (given.user !== undefined && !(await mayHaveAccount(given.user)))
    await refuseUser(api, given.user);
  const jobs = await listJobs(api, { state: 'active', ...(owner === undefined ? {} : { owner }) });
  const name = given.name ?? given.jobname;
  const states = listOf(given.state);
  refuseStates(states);
  const some = jobs.filter(
    (job) =>
      (name === undefined || job.name === name) &&
      (given.partition === undefined || job.partition === given.partition) &&
      (given.qos === undefined || (job.qos ?? DEFAULT_QOS) === given.qos),
  );
  const hosts = hostsOf(given.nodelist);
  if (hosts !== undefined) await refuseNodes(api, hosts);
  const isThere = (nodes: readonly string[]): boolean =>
    hosts === undefined || nodes.some((node) => hosts.includes(node));
  const whole = states === undefined && named.length === 0 && hosts === undefined;
  if (whole) return some.map(({ id }) => String(id));
  const ids: string[] = [];
  for (const job of some) {
    // Of an array each task has a state of its own.
    for (const row of (await rowsOf(api, job, 'active')).flatMap(apart)) {
      const own = row.index === null ? String(job.id) : `${job.id}[${row.index}]`;
      const isNamed = named.length === 0 || named.includes(own) || named.includes(String(job.id));
      if (
        isNamed &&
        !row.isOver &&
        isThere(row.nodes) &&
        (states === undefined || isState(row.state, states))
      )
        ids.push(own);
    }
  }
  return ids;
}

/** Refuses a misspelt name; others that have no account may have a role or jobs. */
async function refuseUser(api: Api, owner: string): Promise<void> {
  const listed = await api.call('listJobs', { query: { owner, state: 'active', limit: 1 } });
  if (listed.jobs.length > 0 || listed.ownerIsKnown === true) return;
  throw usage(`Invalid user name: ${owner}`);
}

/** Each for itself: what is over already keeps no other from its end. */
async function one(context: Context, id: string, given: Given): Promise<number> {
  const api = await context.api();
  const { signal: name } = given;
  if (id.includes('.')) return told(context, { id, given }, () => cancelStep(context, id, name));
  if (name === undefined) {
    return eachTask(id, (task) =>
      told(context, { id: task, given }, () => api.call('cancelJob', { params: { id: task } })),
    );
  }
  const signal = numberOf(name);
  return told(context, { id, given }, async () => {
    const to = await whoGets(api, id, given);
    const body = to === undefined ? { signal } : { signal, to };
    return eachTask(id, (task) =>
      told(context, { id: task, given }, () =>
        api.call('signalJob', { params: { id: task }, body }),
      ),
    );
  });
}

async function eachTask(id: string, act: (task: string) => Promise<number>): Promise<number> {
  let code = 0;
  for (const task of taskIds(id)) code = (await act(task)) || code;
  return code;
}

/** The code that an act gives, if any; 1, and words, where it is refused. */
async function told(
  context: Context,
  { id, given }: { readonly id: string; readonly given: Given },
  act: () => Promise<unknown>,
): Promise<number> {
  try {
    const code = await act();
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Of what is over, or was never there, real scancel says nothing unless it is to be verbose.
    const isOver = error.code === 'job.already_done' || error.code === 'job.not_found';
    const isJob = !id.includes('.') && given.signal === undefined;
    if (isOver && isJob && given.verbose === undefined) return 0;
    if (given.quiet !== undefined && error.kind === 'failed_precondition') return 0;
    context.error(`scancel: error: Kill job error on job id ${id}: ${error.message}\n`);
    return 1;
  }
}

/** In a batch job steps alone get signals, where nothing else is said (scancel(1), "--signal"). */
async function whoGets(api: Api, id: string, given: Given): Promise<SignalTo | undefined> {
  if (given.batch !== undefined) return 'main';
  if (given.full !== undefined || numberOf(given.signal ?? '') === constants.signals.SIGKILL)
    return undefined;
  const params = { id: id.replace(/\[.*/, '') };
  const { environment, program } = await api.call('getJob', { params });
  const isBatch = environment?.[SLURM_MARK] !== undefined && kindOf(program) !== 'argv';
  return isBatch ? 'others' : undefined;
}

const kindOf = (program: unknown): unknown => (program as { readonly kind?: unknown }).kind;

async function cancelStep(context: Context, id: string, signal: string | undefined): Promise<0> {
  const wish = signal === undefined ? null : { name: signal, number: numberOf(signal) };
  await endStep(context, id, wish);
  return 0;
}

function numberOf(text: string): number {
  const signal = parseSignal(text);
  if (!signal.ok) throw usage(`Unknown job signal: ${text}`);
  return signal.value;
}

/** `42[0-2,7]` one by one. */
function taskIds(id: string): string[] {
  const [, job, indices] = /^(\d+)\[([\d,-]+)\]$/.exec(id) ?? [];
  if (indices === undefined) return [id];
  return indices.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    if (to - from >= ARRAY_TASKS_MAX) throw usage(`Invalid job id ${id}`);
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => `${job}[${from + at}]`);
  });
}
