// Which jobs a verb is for: by id, range, name, state or owner. One selection for all verbs that
// do something to several jobs.

import type { Command } from 'commander';
import type { JobView, ListJobsReply } from '../../api/jobs.ts';
import { refuse } from '../../model/errors.ts';
import { failure, usage } from '../../model/failure.ts';
import { TASK_STATES } from '../../model/job.ts';
import type { Context } from '../context.ts';
import { stateWords } from './columns.ts';
import { OPERANDS_TEXT, type Operand, readOperands } from './operands.ts';
import { choice, nameIn } from './row-options.ts';

export interface SelectOptions {
  readonly name?: string;
  readonly state?: string;
  readonly user?: string;
  readonly mine?: boolean;
}

export interface Selected {
  /** The id in the API's form. */
  readonly id: string;
  /** By its own id, not by a range or an option. */
  readonly isNamed: boolean;
  /** Absent where nobody had to look. */
  readonly job?: JobView;
}

/** What counts when a range or an option chooses; what is named by its own id always does. */
export interface Among {
  /** Whether jobs that are done are looked at. */
  readonly state: 'active' | 'all';
  readonly isMeant?: (job: JobView) => boolean;
  /** What cannot be done when none is meant: `held`. */
  readonly done?: string;
}

const STATES = [...TASK_STATES.filter((state) => state !== 'done'), 'held'];
const PAGE_ROWS = 1000;

/** Adds operands and options; the argument is called `job`, which the completion knows. */
export function defineSelection(command: Command): void {
  command.argument('[job...]', OPERANDS_TEXT);
  command.option(
    '--name <name>',
    "your jobs with this name; 'train-*' for names that begin with train-",
  );
  command.option('--state <state>', `your jobs in this state: ${STATES.join(', ')}`);
  command.option('-m, --mine', 'all your jobs');
  command.option('-u, --user <name>', "this user's jobs instead of yours");
}

function hasFilter({ name, state, user, mine }: SelectOptions): boolean {
  return name !== undefined || state !== undefined || user !== undefined || mine === true;
}

/**
 * The jobs meant, in the order named, then by id; never none. Ranges of an operator are of
 * everybody's jobs, others' of their own.
 */
export async function selectJobs(
  context: Context,
  args: readonly string[],
  options: SelectOptions,
  among: Among,
): Promise<readonly Selected[]> {
  const operands = readOperands(args);
  if (operands.length === 0 && !hasFilter(options)) {
    throw usage('no job is named; write ids, or choose with --mine, --name, --state or --user');
  }
  if (!hasFilter(options) && operands.every(({ kind }) => kind === 'one')) {
    return operands.map((operand) => ({ id: (operand as { id: string }).id, isNamed: true }));
  }
  const owner = await ownerOf(context, operands, options, among.state);
  const found = await findJobs(context, operands, options, { state: among.state, owner });
  const fit = among.isMeant === undefined ? found : found.filter(among.isMeant);
  const chosen = operands.length === 0 ? fit.map(whole) : choose(operands, { found, fit }, options);
  if (chosen.length > 0) return chosen;
  if (found.length === 0 && among.state === 'active')
    await refuseDone(context, args, options, owner);
  const hint = `\`weft jobs${among.state === 'all' ? ' --all' : ''}\` lists what there is.`;
  const job = describe(args, options, found.length > 0 ? among.done : undefined);
  throw failure(refuse('job.not_found', { job }, hint));
}

/** Jobs that are over are no jobs that there never were. */
async function refuseDone(
  context: Context,
  args: readonly string[],
  options: SelectOptions,
  owner: string | undefined,
): Promise<void> {
  const isNamed = args.length > 0 || options.name !== undefined;
  if (!isNamed || options.state !== undefined) return;
  const operands = readOperands(args);
  // Others' jobs, which may run, are none that it could have ended.
  const found = await findJobs(context, operands, options, { state: 'all', owner });
  const over =
    operands.length === 0
      ? found
      : choose(operands, { found, fit: found }, options).flatMap(({ job }) => job ?? []);
  if (over.length === 0) return;
  const counts = new Map<string, number>();
  for (const job of over) counts.set(stateWords(job), (counts.get(stateWords(job)) ?? 0) + 1);
  const outcome = [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  throw failure(refuse('job.already_done', { job: describe(args, options, undefined), outcome }));
}

const whole = (job: JobView): Selected => ({ id: String(job.id), isNamed: false, job });

/** Jobs that meet the options, by id, none outside of what the operands name. */
async function findJobs(
  context: Context,
  operands: readonly Operand[],
  options: SelectOptions,
  { state: among, owner }: { readonly state: Among['state']; readonly owner: string | undefined },
): Promise<JobView[]> {
  const api = await context.api();
  const state = choice('--state', options.state, STATES);
  const bounds = operands.map((one) =>
    one.kind === 'one' ? { from: one.jobId, to: one.jobId } : one,
  );
  const lowest = Math.min(...bounds.map(({ from }) => from));
  const highest = Math.max(...bounds.map(({ to }) => to));
  const filter = {
    state: state === 'held' ? 'active' : (state ?? among),
    owner,
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
  among: Among['state'],
): Promise<string | undefined> {
  nameIn('--user', options.user);
  nameIn('--name', options.name);
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
  { found, fit }: { readonly found: readonly JobView[]; readonly fit: readonly JobView[] },
  options: SelectOptions,
): Selected[] {
  const byId = new Map(found.map((job) => [job.id, job]));
  const chosen = new Map<string, Selected>();
  for (const operand of operands) {
    if (operand.kind === 'one') {
      const job = byId.get(operand.jobId);
      const { id } = operand;
      if (job !== undefined) chosen.set(id, { id, isNamed: true, job });
      else if (!hasFilter(options)) chosen.set(id, { id, isNamed: true });
      continue;
    }
    for (const job of fit) {
      const isIn = job.id >= operand.from && job.id <= operand.to;
      if (isIn && !chosen.has(String(job.id))) chosen.set(String(job.id), whole(job));
    }
  }
  return [...chosen.values()];
}

/** For `No job …`; `done`: what could not be done to any of those that there are. */
function describe(
  args: readonly string[],
  { name, state, user }: SelectOptions,
  done: string | undefined,
): string {
  const filters = [
    name === undefined ? '' : `--name ${name}`,
    state === undefined ? '' : `--state ${state}`,
    user === undefined ? '' : `--user ${user}`,
  ].filter((text) => text !== '');
  const able = done === undefined ? '' : ` that can be ${done}`;
  if (filters.length > 0) return `${args.join(' ')} with ${filters.join(' ')}${able}`.trim();
  if (args.length > 0) return `${args.join(' ')}${able}`;
  return `of yours${able === '' ? ' that is active' : able}`;
}

/** `job 42 train (alice, running)`. */
export function selectedWords({ id, job }: Pick<Selected, 'id' | 'job'>): string {
  return job === undefined
    ? `job ${id}`
    : `job ${id} ${job.name} (${job.owner}, ${stateWords(job)})`;
}
