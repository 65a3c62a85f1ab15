// `srun` inside of a job: starts ranks on the nodes that the job has, waits for all, and ends with
// the highest of their exit codes.

import type { ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { PASSES_SIGNALS } from '../../../kernel/base/passes-signals.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { variablesGone, variablesSet } from '../core/changed-variables.ts';
import { expandHosts } from '../core/hostlist.ts';
import { type Held, type Rank, ranksOn, roomProblem, sizeOf } from '../core/step.ts';
import { noteStep, within } from './noted-step.ts';
import { runPmix } from './pmix-ranks.ts';
import { ProcessTree } from './processes-below.ts';
import { inputsOf, withFiles } from './rank-files.ts';
import { guardStep } from './step-guard.ts';
import { placesFor } from './step-places.ts';
import { originOf, type RankPosition, rshIn, runRank, stepVariables } from './step-rank.ts';
import type { StepRequest } from './step-request.ts';
import { StepWatch } from './step-watch.ts';
import { taskOf } from './task-of.ts';

/** A head asks nodes, which answer or are given up within this. */
const CLAIMED_WITHIN_MS = 8_000;

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
  const { chosen, cpuCount, release } = await placesFor(context, { held, size: size.value, wish });
  try {
    const all = ranksOn(chosen, size.value);
    const nodesOf = all.map(({ node }) => held.nodes[node] ?? '');
    const noted = await noteStep(context, { argv: asked.argv, nodes: nodesOf, cpuCount });
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
      gpus: wish.gpus,
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
  { cpus, gpus, memory, memoryPerCpu }: StepRequest,
  { cpusPerNode }: Required<Held>,
  { used, all }: { readonly used: number; readonly all: number },
): void {
  const has = Number(environment['SLURM_MEM_PER_NODE'] ?? 0) || null;
  const ranks = Math.ceil(all / used);
  const perCpu = memoryPerCpu === null ? null : memoryPerCpu * ranks * (cpus ?? 1);
  const { SLURM_GPUS_ON_NODE: cards } = environment;
  const wish = { ranks, cpus: cpus ?? 1, gpus: Number(gpus ?? 0), memory: memory ?? perCpu };
  const room = { cpusPerNode, gpus: cards === undefined ? null : Number(cards), memory: has };
  const why = roomProblem(wish, room);
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
