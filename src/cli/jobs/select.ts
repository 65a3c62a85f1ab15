// Which jobs a verb is for: by id, range, name, state or owner. One selection for all verbs that
// do something to several jobs.

import type { Command } from 'commander';
import type { JobView, ListJobsReply } from '../../api/jobs.ts';
import { refuse } from '../../core/model/errors.ts';
import { failure, usage } from '../../core/model/failure.ts';
import { TASK_STATES } from '../../core/model/job.ts';
import { choice } from '../commands/jobs.ts';
import type { Context } from '../context.ts';
import { stateWords } from './columns.ts';
import { OPERANDS_TEXT, type Operand, readOperands } from './operands.ts';

export interface SelectOptions {
  readonly name?: string;
  readonly state?: string;
  readonly user?: string;
  readonly mine?: boolean;
}

export interface Selected {
  /** As the API takes it. */
  readonly id: string;
  /** Absent of what was named by its own id: nobody had to look. */
  readonly job?: JobView;
}

const STATES = [...TASK_STATES.filter((state) => state !== 'done'), 'held'];
const PAGE_ROWS = 1000;

/** Adds operands and options; the argument is called `job`, which the completion knows. */
export function defineSelection(command: Command): void {
  command.argument('[job...]', OPERANDS_TEXT);
  command.option('--name <name>', "your jobs with this name; 'train-*' for names that begin so");
  command.option('--state <state>', `your jobs in this state: ${STATES.join(', ')}`);
  command.option('-m, --mine', 'all your jobs');
  command.option('-u, --user <name>', "this user's jobs instead of yours");
}

/** Whether it is by their looks, not by their ids, that jobs are chosen. */
export function isByLooks(args: readonly string[], options: SelectOptions): boolean {
  return args.length === 0 && hasFilter(options);
}

function hasFilter({ name, state, user, mine }: SelectOptions): boolean {
  return name !== undefined || state !== undefined || user !== undefined || mine === true;
}

/**
 * The jobs meant, in the order named, then by id; never none. `among`: whether jobs that are done
 * count when a range or an option chooses. Ranges of an operator are of everybody's jobs, others'
 * of their own.
 */
export async function selectJobs(
  context: Context,
  args: readonly string[],
  options: SelectOptions,
  among: 'active' | 'all',
): Promise<readonly Selected[]> {
  const operands = readOperands(args);
  if (operands.length === 0 && !hasFilter(options)) {
    throw usage('no job is named; write ids, or choose with --mine, --name, --state or --user');
  }
  if (!hasFilter(options) && operands.every(({ kind }) => kind === 'one')) {
    return operands.map((operand) => ({ id: (operand as { id: string }).id }));
  }
  const found = await findJobs(context, operands, options, among);
  const chosen = operands.length === 0 ? found.map(whole) : choose(operands, found, options);
  if (chosen.length > 0) return chosen;
  const hint = `\`weft jobs${among === 'all' ? ' --all' : ''}\` lists what there is.`;
  throw failure(refuse('job.not_found', { job: describe(args, options) }, hint));
}

const whole = (job: JobView): Selected => ({ id: String(job.id), job });

/** Jobs that meet the options, by id, none outside of what the operands name. */
async function findJobs(
  context: Context,
  operands: readonly Operand[],
  options: SelectOptions,
  among: 'active' | 'all',
): Promise<JobView[]> {
  const api = await context.api();
  const state = choice('--state', options.state, STATES);
  const bounds = operands.map((one) =>
    one.kind === 'one' ? { from: one.jobId, to: one.jobId } : one,
  );
  const lowest = Math.min(...bounds.map(({ from }) => from));
  const highest = Math.max(...bounds.map(({ to }) => to));
  const filter = {
    state: state === 'held' ? 'pending' : (state ?? among),
    owner: await ownerOf(context, operands, options, among),
    name: isPattern(options.name) ? undefined : options.name,
    limit: PAGE_ROWS,
  };
  const found: JobView[] = [];
  let before = operands.length === 0 ? undefined : highest + 1;
  for (;;) {
    const query = { ...filter, before };
    const page: ListJobsReply = await api.call('listJobs', { query });
    found.push(...page.jobs);
    if (page.next === null || (operands.length > 0 && page.next <= lowest)) break;
    before = page.next;
  }
  return found.reverse().filter((job) => isMeant(job, options));
}

/** Undefined: everybody's. */
async function ownerOf(
  context: Context,
  operands: readonly Operand[],
  options: SelectOptions,
  among: 'active' | 'all',
): Promise<string | undefined> {
  if (options.user !== undefined && options.mine) {
    throw usage('--mine and --user exclude each other');
  }
  if (options.user !== undefined) return options.user;
  // Whoever only asks may ask about everybody's.
  if (operands.length > 0 && among === 'all' && !options.mine) return undefined;
  const { name, role } = await (await context.api()).call('whoami');
  return operands.length > 0 && role !== 'user' && !options.mine ? undefined : name;
}

function isPattern(name: string | undefined): boolean {
  return name !== undefined && /[*?]/.test(name);
}

function isMeant(job: JobView, { name, state }: SelectOptions): boolean {
  if (state === 'held' && !job.held) return false;
  if (name === undefined || !isPattern(name)) return true;
  const pattern = name.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*');
  return new RegExp(`^${pattern.replace(/\?/g, '.')}$`, 's').test(job.name);
}

/** A job named by its own id is only left out when an option says so. */
function choose(
  operands: readonly Operand[],
  found: readonly JobView[],
  options: SelectOptions,
): Selected[] {
  const byId = new Map(found.map((job) => [job.id, job]));
  const chosen = new Map<string, Selected>();
  for (const operand of operands) {
    if (operand.kind === 'one') {
      const job = byId.get(operand.jobId);
      if (job !== undefined) chosen.set(operand.id, { id: operand.id, job });
      else if (!hasFilter(options)) chosen.set(operand.id, { id: operand.id });
      continue;
    }
    for (const job of found) {
      if (job.id >= operand.from && job.id <= operand.to) chosen.set(String(job.id), whole(job));
    }
  }
  return [...chosen.values()];
}

function describe(args: readonly string[], { name, state, user }: SelectOptions): string {
  const filters = [
    name === undefined ? '' : `--name ${name}`,
    state === undefined ? '' : `--state ${state}`,
    user === undefined ? '' : `--user ${user}`,
  ].filter((text) => text !== '');
  const ids = args.length === 0 ? 'of yours that is active' : args.join(' ');
  return filters.length === 0 ? ids : `${args.join(' ')} with ${filters.join(' ')}`.trim();
}

/** `job 42 train (alice, running)`. */
export function selectedWords({ id, job }: Selected): string {
  return job === undefined
    ? `job ${id}`
    : `job ${id} ${job.name} (${job.owner}, ${stateWords(job)})`;
}
