// `srun` inside of a job: starts ranks on the nodes that the job has, waits for all, and ends with
// the highest of their exit codes.

import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants, networkInterfaces } from 'node:os';
import { PASSES_SIGNALS } from '../../../kernel/base/passes-signals.ts';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { boundArgv } from '../../steps/core/pmix.ts';
import { becoming } from '../core/become.ts';
import { changedVariables, variablesGone, variablesSet } from '../core/changed-variables.ts';
import { expandHosts, hostsInOrder } from '../core/hostlist.ts';
import type { Programs } from '../core/multi-prog.ts';
import {
  type Held,
  nodesFor,
  onEach,
  type Rank,
  ranksOn,
  roomProblem,
  type StepShape,
  sizeOf,
} from '../core/step.ts';
import type { Endings } from '../core/step-ending.ts';
import { noteStep, within } from './noted-step.ts';
import { Places } from './places.ts';
import { runPmix } from './pmix-ranks.ts';
import { ProcessTree } from './processes-below.ts';
import { inputsOf, type RankFiles, withFiles } from './rank-files.ts';
import { guardStep } from './step-guard.ts';
import { StepWatch } from './step-watch.ts';
import { taskEnvironment } from './task-environment.ts';
import { taskOf } from './task-of.ts';

/** A head asks nodes, which answer or are given up within this. */
const CLAIMED_WITHIN_MS = 8_000;

export interface StepRequest extends StepShape {
  readonly argv: readonly string[];
  readonly programs: Programs | null;
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly input: string | undefined;
  readonly append: boolean;
  readonly label: boolean;
  /** Absolute. */
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Cpus of each rank; null: nobody says, and they are one. */
  readonly cpus: number | null;
  /** Beside other steps, whatever room there is. */
  readonly overlap: boolean;
  readonly endings: Endings;
  readonly bind: 'none' | 'core' | 'numa';
  /** Ranks of Open MPI: its `mpirun` starts them. */
  readonly isPmix: boolean;
  /** MiB on each node; null: nobody says. */
  readonly memory: number | null;
  /** MiB for each cpu in place of it; null: nobody says. */
  readonly memoryPerCpu: number | null;
}

export async function runStep(context: Context, asked: StepRequest): Promise<number> {
  const held = heldBy(context.environment);
  const size = sizeOf(held, asked);
  if (!size.ok) throw usage(size.error);
  const wish = { ...asked, argv: asked.programs?.(size.value.all) ?? asked.argv };
  refuseMore(context, wish, held, size.value);
  refuseFolder(wish.directory);
  // By this name signals for all of the job pass it by: its ranks get them themselves.
  process.title = PASSES_SIGNALS;
  const ranks = new Set<ChildProcess>();
  const restore = passSignals(ranks);
  const { chosen, release } = await placesFor(context, { held, size: size.value, wish });
  try {
    const all = ranksOn(chosen, size.value);
    const nodesOf = all.map(({ node }) => held.nodes[node] ?? '');
    const noted = await noteStep(context, { argv: asked.argv, nodes: nodesOf });
    // Where the head numbers no steps: another for each that runs at the same time.
    const number = noted.number ?? String(process.pid);
    const cpus = await cpusOf(context, wish.bind, nodesOf);
    const guard = guardStep(context, { number: noted.number, count: all.length });
    const guarded = { ...wish, environment: { ...wish.environment, ...guard.variables } };
    const step = { total: all.length, nodes: held.nodes, chosen, ranks, number, cpus };
    // A step that cannot begin has ended, too.
    let codes: readonly number[] = all.map(() => 1);
    try {
      const run = wish.isPmix ? runPmixRanks : runRanks;
      codes = await run(context, guarded, all, step);
    } finally {
      await noted.ended(codes);
      guard.over();
    }
    return Math.max(0, ...codes);
  } finally {
    release();
    restore();
  }
}

/** Scripts say it that never knew us: where ranks cannot be bound they run all the same. */
async function cpusOf(
  context: Context,
  bind: StepRequest['bind'],
  nodes: readonly string[],
): Promise<readonly string[] | null> {
  if (bind === 'none') return null;
  const body = { nodes: [...nodes], bind };
  const params = { id: taskOf(context.environment) };
  const asked = async (): Promise<readonly string[] | Failure> => {
    try {
      return (await (await context.api()).call('claimCpus', { params, body })).cpus;
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  };
  const cpus = await within(asked, CLAIMED_WITHIN_MS);
  if (cpus !== null && !(cpus instanceof Failure)) return cpus;
  context.note(`--cpu-bind: ranks run unbound: ${cpus?.message ?? 'the head does not answer'}`);
  return null;
}

/** The exit code of each. */
async function runRanks(
  context: Context,
  wish: StepRequest,
  all: readonly Rank[],
  step: Omit<RankPosition, 'rank' | 'files'>,
): Promise<number[]> {
  const { nodes, ranks, number } = step;
  // All of them before the first rank: none runs where one could not.
  const ends = await withFiles(context, wish, { all, nodes, number }, (files) =>
    all.map((rank, at) => runRank(context, wish, { ...step, rank, files: files[at] })),
  );
  const watch = watchOver(context, wish, { ranks, number });
  for (const end of ends) void end.then((code) => watch.ended(code));
  return Promise.all(ends).finally(() => watch.close());
}

/** One program starts them, and its exit code is that of each. */
async function runPmixRanks(
  context: Context,
  wish: StepRequest,
  all: readonly Rank[],
  step: Omit<RankPosition, 'rank' | 'files'>,
): Promise<number[]> {
  const { nodes, chosen, ranks, number, total } = step;
  const { environment } = context;
  const here = environment['SLURMD_NODENAME'] ?? '';
  const nodesOf = all.map(({ node }) => nodes[node] ?? '');
  if (nodesOf.some((node) => node !== here)) rshIn(context);
  const own = {
    ...wish.environment,
    ...stepVariables(total, { nodes: chosen.map((at) => nodes[at] ?? ''), cpus: wish.cpus }),
    SLURM_STEP_ID: number,
    SLURM_STEPID: number,
  };
  const origin = { ...without(environment, own), ...originOf(context) };
  return withFiles(context, wish, { all, nodes, number }, async (files) => {
    const watch = watchOver(context, wish, { ranks, number });
    const code = await runPmix(context, {
      argv: wish.argv,
      nodes: nodesOf,
      here,
      all,
      handed: Object.keys(variablesSet(origin, own)),
      taken: variablesGone(origin, own),
      directory: wish.directory,
      // Where ranks are to have none of it, what starts them has.
      environment: { ...environment, ...own },
      label: wish.label,
      files,
      input: inputsOf(context, wish, { all, nodes, number }),
      cpus: step.cpus,
      started: (child) => {
        ranks.add(child);
        child.once('exit', () => ranks.delete(child));
      },
    }).finally(() => watch.close());
    return all.map(() => code);
  });
}

/** Those that are not among the others. */
function without(all: NodeJS.ProcessEnv, others: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(all).filter(([name]) => others[name] === undefined));
}

/** Nothing of the kind is said where a program cannot be started. */
function refuseFolder(directory: string): void {
  try {
    if (statSync(directory).isDirectory()) return;
  } catch (error) {
    throw usage(`couldn't chdir to \`${directory}': ${fileProblem(error)}`);
  }
  throw usage(`couldn't chdir to \`${directory}': it is no folder`);
}

/** Nothing keeps ranks in a script to less than the job has; more they can never have. */
function refuseMore(
  { environment }: Context,
  { cpus, memory, memoryPerCpu }: StepRequest,
  { cpusPerNode }: Required<Held>,
  { used, all }: { readonly used: number; readonly all: number },
): void {
  const has = Number(environment['SLURM_MEM_PER_NODE'] ?? 0) || null;
  const ranks = Math.ceil(all / used);
  const perCpu = memoryPerCpu === null ? null : memoryPerCpu * ranks * (cpus ?? 1);
  const wish = { ranks, cpus: cpus ?? 1, memory: memory ?? perCpu };
  const why = roomProblem(wish, { cpusPerNode, memory: has });
  if (why !== null)
    throw usage(`Unable to create step for job ${environment['SLURM_JOB_ID']}: ${why}`);
}

function watchOver(
  context: Context,
  { endings }: StepRequest,
  { ranks, number }: { readonly ranks: ReadonlySet<ChildProcess>; readonly number: string },
): StepWatch {
  const tree = new ProcessTree();
  return new StepWatch(context, endings, {
    id: `${context.environment['SLURM_JOB_ID']}.${number}`,
    signal: (name) =>
      tree.signal(
        [...ranks].flatMap(({ pid }) => pid ?? []),
        name,
      ),
  });
}

function heldBy(environment: Context['environment']): Required<Held> {
  const listed = environment['WEFT_NODELIST']?.split(',');
  const nodes = listed ?? expandHosts(environment['SLURM_JOB_NODELIST'] ?? '') ?? [];
  const ranksPerNode = Number(environment['SLURM_NTASKS_PER_NODE'] ?? 1);
  const cpusPerNode = Number(environment['SLURM_CPUS_ON_NODE'] ?? ranksPerNode);
  const ranks = Number(environment['SLURM_NTASKS'] ?? nodes.length * ranksPerNode);
  return { nodes, ranksPerNode, ranks, cpusPerNode: Math.max(ranksPerNode, cpusPerNode) };
}

/** What a user sends to `srun` is meant for its ranks. */
const PASSED = ['SIGUSR1', 'SIGUSR2', 'SIGTERM', 'SIGQUIT', 'SIGHUP'] as const;

function passSignals(ranks: ReadonlySet<ChildProcess>): () => void {
  const pass = (name: NodeJS.Signals): void => {
    for (const rank of ranks) rank.kill(name);
    // Before there are ranks it is meant for us.
    if (ranks.size === 0 && name !== 'SIGUSR1' && name !== 'SIGUSR2')
      process.exit(128 + constants.signals[name]);
  };
  // A terminal sends it to the ranks, too.
  const interrupted = (): void => {
    if (ranks.size === 0) process.exit(130);
  };
  process.on('SIGINT', interrupted);
  for (const name of PASSED) process.on(name, pass);
  return () => {
    process.off('SIGINT', interrupted);
    for (const name of PASSED) process.off(name, pass);
  };
}

interface Placed {
  readonly chosen: readonly number[];
  readonly release: () => void;
}

const LOOK_MS = 100;
const TOLD_AFTER = 10;

/** Waits until the step fits beside others of the job that go on. */
async function placesFor(
  context: Context,
  {
    held,
    size,
    wish,
  }: {
    readonly held: Required<Held>;
    readonly size: { readonly used: number; readonly all: number };
    readonly wish: StepRequest;
  },
): Promise<Placed> {
  const { nodes, cpusPerNode: room } = held;
  const { environment } = context;
  const names = wish.names ?? null;
  const ask = { used: size.used, names };
  // One inside of another has the places of that one.
  const isInner = environment['SLURM_STEP_ID'] !== undefined;
  // Of this start of the task alone: clusters on one machine have jobs of the same numbers.
  const start = environment['WEFT_LAUNCH'] ?? environment['SLURM_JOB_ID'] ?? '';
  const places = wish.overlap || isInner ? null : Places.of(start, { nodes: nodes.length, room });
  if (places === null) {
    // One inside of another stays on its node where it can.
    const here = nodes.indexOf(environment['SLURMD_NODENAME'] ?? '');
    const chosen = nodesFor(nodes, ask, isInner ? nodes.map((_, at) => Number(at !== here)) : []);
    return { chosen, release: () => undefined };
  }
  for (let looks = 0; ; looks++) {
    const chosen = nodesFor(nodes, ask, places.taken());
    const wanted = new Map<number, number>();
    for (const { node } of ranksOn(chosen, size))
      wanted.set(node, Math.min(room, (wanted.get(node) ?? 0) + (wish.cpus ?? 1)));
    const release = claimOr(context, places, wanted);
    if (release !== null) return { chosen, release };
    if (looks === TOLD_AFTER) {
      const job = environment['SLURM_JOB_ID'] ?? '';
      context.error(
        `srun: Job ${job} step creation temporarily disabled, retrying (Requested nodes are busy)\n`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS * (0.5 + Math.random())));
  }
}

/** Where places cannot be written down the step begins, beside others or not. */
function claimOr(
  context: Context,
  places: Places,
  wanted: ReadonlyMap<number, number>,
): (() => void) | null {
  try {
    return places.claim(wanted);
  } catch (error) {
    context.error(`srun: the step waits for no other: ${fileProblem(error)}\n`);
    return () => undefined;
  }
}

interface RankPosition {
  /** Cpus of each rank; null: they are not bound. */
  readonly cpus: readonly string[] | null;
  readonly rank: Rank;
  readonly total: number;
  readonly nodes: readonly string[];
  readonly chosen: readonly number[];
  readonly ranks: Set<ChildProcess>;
  readonly files: RankFiles | undefined;
  /** That of the step. */
  readonly number: string;
}

function runRank(
  context: Context,
  wish: StepRequest,
  { rank, total, nodes, chosen, ranks, files, number, cpus }: RankPosition,
): Promise<number> {
  const { environment } = context;
  const here = Math.max(0, nodes.indexOf(environment['SLURMD_NODENAME'] ?? ''));
  const variables = {
    ...stepVariables(total, {
      nodes: chosen.map((at) => nodes[at] ?? ''),
      cpus: wish.cpus,
    }),
    SLURM_STEP_ID: number,
    SLURM_STEPID: number,
    SLURM_PROCID: String(rank.rank),
    SLURM_LOCALID: String(rank.local),
    SLURM_NODEID: String(chosen.indexOf(rank.node)),
    SLURMD_NODENAME: nodes[rank.node] ?? '',
    ...(cpus === null ? {} : { WEFT_CPUSET: cpus[rank.rank] ?? '' }),
  };
  const argv = becoming(wish.argv);
  const own = { ...wish, argv: cpus === null ? argv : boundArgv(argv) };
  const started =
    rank.node === here
      ? { argv: own.argv, variables }
      : remote(context, own, variables, nodes[rank.node] ?? '');
  const [program = '', ...args] = started.argv;
  const shown = wish.label ? 'pipe' : 'inherit';
  const input = rank.rank === 0 ? 'inherit' : 'ignore';
  const child = spawn(program, args, {
    stdio: [files?.input ?? input, files?.output ?? shown, files?.error ?? shown],
    cwd: wish.directory,
    env: { ...wish.environment, ...started.variables },
  });
  ranks.add(child);
  if (wish.label) {
    const width = String(total - 1).length;
    const mark = String(rank.rank).padStart(width);
    labelled(child.stdout, (line) => context.out(`${mark}: ${line}\n`));
    labelled(child.stderr, (line) => context.error(`${mark}: ${line}\n`));
  }
  let isStarted = true;
  return new Promise((resolve) => {
    const node = nodes[rank.node] ?? '';
    const over = (exit: number): void => {
      if (exit !== 0)
        context.error(`srun: error: ${node}: task ${rank.rank}: Exited with exit code ${exit}\n`);
      resolve(exit);
    };
    child.once('error', (problem) => {
      ranks.delete(child);
      isStarted = false;
      context.error(`srun: error: execve(): ${program}: ${fileProblem(problem)}\n`);
      over(2);
    });
    child.once('close', (code, signal) => {
      ranks.delete(child);
      if (!isStarted) return;
      over(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0));
    });
  });
}

/** What all ranks of a step find (srun(1), "OUTPUT ENVIRONMENT VARIABLES"). */
export function stepVariables(
  total: number,
  { nodes, cpus }: { readonly nodes: readonly string[]; readonly cpus: number | null },
): Record<string, string> {
  const hosts = hostsInOrder(nodes);
  const each = onEach(total, Math.max(1, nodes.length));
  return {
    SLURM_NTASKS: String(total),
    SLURM_NPROCS: String(total),
    SLURM_STEP_NUM_TASKS: String(total),
    SLURM_STEP_NUM_NODES: String(nodes.length),
    SLURM_STEP_NODELIST: hosts,
    SLURM_STEP_TASKS_PER_NODE: each,
    SLURM_TASKS_PER_NODE: each,
    ...(cpus === null ? {} : { SLURM_CPUS_PER_TASK: String(cpus) }),
    SLURM_LAUNCH_NODE_IPADDR: addressHere(),
    SLURM_STEP_ID: '0',
    SLURM_STEPID: '0',
  };
}

/** By which others may reach the machine on which this runs. */
function addressHere(): string {
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const other = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  return other?.address ?? '127.0.0.1';
}

/** What the task began with. */
function originOf({ environment }: Context): Readonly<NodeJS.ProcessEnv> {
  return taskEnvironment(process.ppid, environment['WEFT_LAUNCH']) ?? environment;
}

/** What starts a command on another node of the job. */
function rshIn({ environment }: Context): string {
  const shell = environment['WEFT_RSH'];
  if (shell !== undefined) return shell;
  throw usage(
    'Unable to create step for job: this job runs on one node only',
    'Submit it with --nodes and --ntasks-per-node.',
  );
}

interface Started {
  readonly argv: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * On another node of the job, by the way that MPI launchers take. Values of variables are in the
 * command: it is no word that others can read.
 */
function remote(
  context: Context,
  { argv, directory, environment: own }: StepRequest,
  variables: Readonly<Record<string, string>>,
  node: string,
): Started {
  const shell = rshIn(context);
  const words = ['cd', directory].map(quoteWord).join(' ');
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const ranks = ['env', ...changedVariables(originOf(context), own), ...set, ...argv].map(
    quoteWord,
  );
  const command = `${words} && exec ${ranks.join(' ')}`;
  return { argv: [shell, node], variables: { ...variables, WEFT_RSH_COMMAND: command } };
}

function labelled(stream: NodeJS.ReadableStream | null, say: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) say(line);
  });
  stream?.on('end', () => rest !== '' && say(rest));
}
