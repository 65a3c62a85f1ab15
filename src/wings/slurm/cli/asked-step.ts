// `srun` from where nodes are only held (salloc), or with a terminal: its ranks are a step that the
// head is asked for.

import path from 'node:path';
import { PASSES_SIGNALS } from '../../../kernel/base/passes-signals.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { THREAD_VARIABLES, threadCounts } from '../../../kernel/model/thread-counts.ts';
import { boundPmixStep } from '../../steps/cli/pmix-step.ts';
import { runStep, type StepWish } from '../../steps/cli/run-step.ts';
import { taskNamed } from '../../steps/cli/task-nodes.ts';
import { BECOME, RANK_GPUS } from '../core/become.ts';
import { variablesSet } from '../core/changed-variables.ts';
import { expandHosts } from '../core/hostlist.ts';
import { readId } from '../core/ids.ts';
import type { Programs } from '../core/multi-prog.ts';
import { gpusOfRank, ranksOf } from '../core/step.ts';
import type { Endings } from '../core/step-ending.ts';
import { isWithoutExports, withExports } from '../core/step-exports.ts';
import { beginOf } from './pmix-ranks.ts';
import { hostsOf } from './speaking.ts';
import { stepVariables } from './step-rank.ts';
import { StepWatch, type WatchedStep } from './step-watch.ts';
import { taskEnvironment } from './task-environment.ts';
import { taskOf } from './task-of.ts';

export interface AskedStep {
  readonly argv: readonly string[];
  /** Those of each rank; absent or null: `argv` is that of all. */
  readonly programs?: Programs | null;
  readonly tasks: number | null;
  readonly nodeCount: number | null;
  /** Ranks of each node at the most; absent or null: nobody says. */
  readonly perNode?: number | null;
  readonly label: boolean;
  /** Those of each rank; null: its share. */
  readonly cpus: number | null;
  readonly bind: 'none' | 'core' | 'numa';
  /** Where they cannot be bound ranks run all the same, with a note. */
  readonly runsUnbound?: boolean;
  readonly endings: Endings;
  readonly given: Readonly<Record<string, string | undefined>>;
}

/** The task, and what it has. */
interface Held {
  readonly task: string;
  /** Launchers of MPI reach its other nodes. */
  readonly isMpi: boolean;
  readonly nodes: readonly string[];
  readonly ranksPerNode: number;
  readonly ranks?: number | undefined;
  /** On each node. */
  readonly cpus: number;
}

/**
 * Each rank finds which of all it is. Words: the most ranks of a node, the first rank on a node
 * with one less, then the program.
 */
const RANKED =
  'SLURM_PROCID=$WEFT_STEP_RANK SLURM_NODEID=$WEFT_NODE_RANK; if [ $WEFT_STEP_RANK -lt $2 ]; ' +
  'then SLURM_LOCALID=$((WEFT_STEP_RANK % $1)); else SLURM_LOCALID=$(((WEFT_STEP_RANK - $2) % ($1 - 1))); fi; ' +
  `SLURM_NTASKS=$WEFT_STEP_COUNT SLURM_STEP_ID=\${WEFT_STEP_ID##*.} SLURM_STEPID=\${WEFT_STEP_ID##*.}; ` +
  'export SLURM_PROCID SLURM_LOCALID SLURM_NODEID SLURM_NTASKS SLURM_STEP_ID SLURM_STEPID; ' +
  `shift 2; ${BECOME}`;

/** Inside of a job, or of an allocation. */
export async function runAskedStep(context: Context, wish: AskedStep): Promise<number> {
  const { environment } = context;
  const all = expandHosts(environment['SLURM_JOB_NODELIST'] ?? '') ?? [];
  const nodes = nodesIn(all, wish);
  const ranksPerNode = Number(environment['SLURM_NTASKS_PER_NODE'] ?? 1);
  const isWhole = nodes.length === all.length;
  const said = isWhole ? environment['SLURM_NTASKS'] : undefined;
  const ranks = Number(said ?? nodes.length * ranksPerNode);
  const cpus = Number(environment['SLURM_CPUS_ON_NODE'] ?? ranksPerNode);
  const task = taskOf(environment);
  const isMpi = await isMpiJob(context, task, wish);
  return runOn(context, { task, nodes, ranksPerNode, ranks, cpus, isMpi }, wish);
}

/** Nodes of the job that are named: the head starts steps on one of them, or on all. */
function nodesIn(nodes: readonly string[], { given }: AskedStep): readonly string[] {
  const names = hostsOf(given['nodelist']) ?? nodes;
  const other = names.find((name) => !nodes.includes(name));
  if (other !== undefined)
    throw usage(`Unable to create step for job: ${other} is none of its nodes`);
  const left = nodes.filter((name) => names.includes(name));
  if (left.length > 1 && left.length < nodes.length)
    throw usage(`--nodelist: one of the job's ${nodes.length} nodes, or all of them`);
  return left;
}

/** Where it makes no difference nobody is asked. */
async function isMpiJob(context: Context, id: string, { given }: AskedStep): Promise<boolean> {
  if (!isPmix(given)) return false;
  const api = await context.api();
  return (await api.call('getJob', { params: { id } })).ranksPerNode != null;
}

/** `--jobid=42`: from anywhere, one rank on each node where no number is said. */
export async function runInJob(context: Context, wish: AskedStep): Promise<number> {
  const said = wish.given['jobid'] ?? '';
  const read = readId(said);
  if (!read.ok) throw usage(read.error);
  const [, , index] = /^(\d+)(?:\[(\d+)\])?$/.exec(read.value) ?? [];
  const api = await context.api();
  const job = await api.call('getJob', { params: { id: read.value.replace(/\[.*/, '') } });
  if ((job.array === null) !== (index === undefined))
    throw usage(`Invalid job id specified: ${said}`, 'Say one task of an array, as 42_7.');
  const { nodes: all, state } = await taskNamed(api, read.value);
  if (state !== 'running') throw usage(`Job ${said} does not run: it is ${state}`);
  const cpus = job.request.perNode.cpuCount;
  const nodes = nodesIn(all, wish);
  const ranksPerNode = wish.tasks === null && wish.perNode == null ? 1 : cpus;
  const isMpi = job.ranksPerNode != null;
  return runOn(context, { task: read.value, nodes, ranksPerNode, cpus, isMpi }, wish);
}

export async function runOn(
  context: Context,
  { task, nodes, cpus, isMpi, ...held }: Held,
  wish: AskedStep,
): Promise<number> {
  const { nodeCount, label, given } = wish;
  const terminal = given['pty'] !== undefined;
  const tasks = terminal ? 1 : wish.tasks;
  const shape = terminal ? { nodeCount: 1 } : { nodeCount, perNode: wish.perNode ?? null };
  const ranks = ranksOf({ nodes, ...held }, { tasks, ...shape });
  if (!ranks.ok) throw usage(ranks.error);
  const argv = wish.programs?.(ranks.value.length) ?? wish.argv;
  const used = new Set(ranks.value.map(({ node }) => node)).size;
  if (used > 1 && used < nodes.length) {
    throw usage(`--nodes: one of the job's ${nodes.length} nodes, or all of them`);
  }
  // By this name signals for all of the job pass it by: its ranks get them themselves.
  process.title = PASSES_SIGNALS;
  const { TERM: term } = context.environment;
  const most = Math.ceil(ranks.value.length / used);
  const sharers = given['jobid'] === undefined ? held.ranksPerNode : most;
  const gpus = gpusOfRank(given);
  const each = wish.cpus ?? Math.max(1, Math.floor(cpus / sharers));
  const own = {
    ...stepVariables(ranks.value.length, {
      nodes: nodes.filter((_, at) => ranks.value.some(({ node }) => node === at)),
      cpus: each,
    }),
    // The job itself has one process on each node, which holds it.
    ...(given['jobid'] === undefined && { SLURM_NTASKS_PER_NODE: String(held.ranksPerNode) }),
    ...threadsOf(isWithoutExports(given['export']) ? {} : context.environment, each),
    ...(terminal && term !== undefined ? { TERM: term } : {}),
    ...(gpus === null || isPmix(given) ? {} : { [RANK_GPUS]: gpus }),
  };
  const directory = given['chdir'] && path.resolve(context.cwd, given['chdir']);
  const places = ranks.value.map(({ node }) => nodes[node] ?? '');
  const program = [
    '/bin/sh',
    '-c',
    RANKED,
    'srun',
    ...rankWords(ranks.value.length, used),
    ...argv,
  ];
  const said = { argv: program, environment: own, directory };
  const { environment, leftOut } = withExports(
    exported(context, given),
    said,
    // One process starts them all.
    isPmix(given) ? places.slice(0, 1) : places,
  );
  if (leftOut !== null)
    context.note(`what was exported here is left out, as with --export=NONE: ${leftOut}`);
  const step = {
    target: { task, node: used === 1 ? (nodes[0] ?? null) : null },
    argv: program,
    count: ranks.value.length,
    perNode: false,
    directory,
    environment,
    label,
    terminal,
    pmi: isPmi(given) && !terminal,
    bind: wish.bind,
    cpuCount: Math.min(cpus * used, each * ranks.value.length),
    watch: (step: WatchedStep) => new StepWatch(context, wish.endings, step),
  };
  if (!isPmix(given)) return runBound(context, step, wish.runsUnbound === true);
  const started = {
    nodes: places,
    begin: beginOf(ranks.value, { gpus }),
  };
  const api = await context.api();
  return runStep(context, await boundPmixStep(api, { ...step, argv }, { nodes, isMpi }, started));
}

/** The head starts nothing of a step that it refuses. */
async function runBound(context: Context, step: StepWish, runsUnbound: boolean): Promise<number> {
  try {
    return await runStep(context, step);
  } catch (error) {
    if (!runsUnbound || step.bind === 'none' || !isAboutBinding(error)) throw error;
    context.note(`--cpu-bind: ranks run unbound: ${error.message}`);
  }
  return runStep(context, { ...step, bind: 'none' });
}

/** A head that does not know of binding says that `bind` is unknown to it. */
function isAboutBinding(error: unknown): error is Failure {
  return (
    error instanceof Failure && error.kind === 'invalid_argument' && /\bbind\b/.test(error.message)
  );
}

/**
 * What has been exported since the shell of the allocation, or the job's script, began: the rest a
 * rank has anyway. What was taken away since then it keeps.
 */
function exported(
  { environment }: Context,
  given: AskedStep['given'],
): Readonly<Record<string, string>> {
  if (given['jobid'] !== undefined || isWithoutExports(given['export'])) return {};
  const launch = environment['WEFT_LAUNCH'];
  const isThere = (environment['SLURMD_NODENAME'] ?? '') !== '';
  const origin = isThere
    ? taskEnvironment(process.pid, launch)
    : taskEnvironment(process.pid, environment['SLURM_JOB_ID'], undefined, 'SLURM_JOB_ID');
  return origin === null ? {} : variablesSet(origin, environment);
}

/** The job's own program is one, and has all cpus: its ranks have a share each. */
function threadsOf(environment: Context['environment'], each: number): Record<string, string> {
  const counts = threadCounts(each, (name) => environment[name] !== undefined);
  for (const name of THREAD_VARIABLES) {
    const said = environment[name];
    if (said !== undefined) counts[name] = said;
  }
  return counts;
}

function rankWords(all: number, used: number): string[] {
  const most = Math.ceil(all / used);
  return [String(most), String(all % used === 0 ? all : most * (all % used))];
}

/**
 * What Slurm calls `pmi2` is spoken to as PMI-1 by MPICH's usual library: it goes by what it finds.
 */
export function isPmi({ mpi }: Readonly<Record<string, string | undefined>>): boolean {
  return mpi === 'pmi1' || mpi === 'pmi2';
}

/** `pmix`, `pmix_v4`: its own is that of whichever Open MPI the node has. */
export function isPmix({ mpi = '' }: Readonly<Record<string, string | undefined>>): boolean {
  return /^pmix(?:_v\d)?$/.test(mpi);
}

const BOUND: Readonly<Record<string, 'none' | 'core' | 'numa'>> = {
  none: 'none',
  no: 'none',
  cores: 'core',
  threads: 'core',
  rank: 'core',
  rank_ldom: 'numa',
  ldoms: 'numa',
  sockets: 'numa',
};

/** `verbose,cores`: what says how much is said changes nothing. */
export function bindOf(
  given: Readonly<Record<string, string | undefined>>,
): 'none' | 'core' | 'numa' {
  const words = (given['cpu-bind'] ?? 'none').toLowerCase().split(',');
  const [kind = 'none'] = words.filter((word) => !/^(quiet|q|verbose|v|)$/.test(word));
  const to = Object.hasOwn(BOUND, kind) ? BOUND[kind] : undefined;
  if (to === undefined) {
    throw usage(`--cpu-bind=${kind} is not honoured here: say cores, ldoms or none`);
  }
  return to;
}
