// One rank of a step: a process here, or a command on another node of the job.

import { type ChildProcess, spawn } from 'node:child_process';
import { constants, networkInterfaces } from 'node:os';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { boundArgv } from '../../steps/core/pmix.ts';
import { becoming, RANK_GPUS } from '../core/become.ts';
import { changedVariables } from '../core/changed-variables.ts';
import { hostsInOrder } from '../core/hostlist.ts';
import { onEach, type Rank } from '../core/step.ts';
import type { RankFiles } from './rank-files.ts';
import type { StepRequest } from './step-request.ts';
import { taskEnvironment } from './task-environment.ts';

/** A rank, and the step that it is of. */
export interface RankPosition {
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

/** Resolves with its exit code, or that of a shell for its signal. */
export function runRank(
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
    ...(wish.gpus === null ? {} : { [RANK_GPUS]: wish.gpus }),
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
export function originOf({ environment }: Context): Readonly<NodeJS.ProcessEnv> {
  return taskEnvironment(process.ppid, environment['WEFT_LAUNCH']) ?? environment;
}

/** What starts a command on another node of the job. */
export function rshIn({ environment }: Context): string {
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
