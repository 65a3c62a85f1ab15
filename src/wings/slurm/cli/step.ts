// `srun` inside of a job: starts ranks on the nodes that the job has, waits for all, and ends with
// the highest of their exit codes.

import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { constants } from 'node:os';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { expandHosts } from '../core/hostlist.ts';
import { type Rank, rankFile, ranksOf } from '../core/step.ts';

export interface StepRequest {
  readonly argv: readonly string[];
  readonly tasks: number | null;
  readonly nodeCount: number | null;
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly label: boolean;
}

export async function runStep(context: Context, wish: StepRequest): Promise<number> {
  const { environment } = context;
  const listed = environment['WEFT_NODELIST']?.split(',');
  const nodes = listed ?? expandHosts(environment['SLURM_JOB_NODELIST'] ?? '') ?? [];
  const ranksPerNode = Number(environment['SLURM_NTASKS_PER_NODE'] ?? 1);
  const ranks = ranksOf({ nodes, ranksPerNode }, wish);
  if (!ranks.ok) throw usage(ranks.error);
  const total = ranks.value.length;
  const codes = await Promise.all(
    ranks.value.map((rank) => runRank(context, wish, { rank, total, nodes })),
  );
  return Math.max(0, ...codes);
}

interface RankPosition {
  readonly rank: Rank;
  readonly total: number;
  readonly nodes: readonly string[];
}

function runRank(
  context: Context,
  wish: StepRequest,
  { rank, total, nodes }: RankPosition,
): Promise<number> {
  const { environment } = context;
  const here = Number(environment['SLURM_NODEID'] ?? 0);
  const variables = {
    SLURM_PROCID: String(rank.rank),
    SLURM_LOCALID: String(rank.local),
    SLURM_NODEID: String(rank.node),
    SLURM_NTASKS: String(total),
    SLURM_STEP_NUM_TASKS: String(total),
    SLURM_STEP_ID: '0',
    SLURMD_NODENAME: nodes[rank.node] ?? '',
  };
  const [program = '', ...args] =
    rank.node === here ? wish.argv : remote(context, wish, variables, nodes[rank.node] ?? '');
  const index = environment['SLURM_ARRAY_TASK_ID'] ?? null;
  const job = { job: environment['SLURM_JOB_ID'] ?? '', index };
  const open = (pattern: string | undefined) =>
    pattern === undefined ? null : openSync(rankFile(pattern, rank, job), 'w');
  const output = open(wish.output);
  const error = wish.error === undefined ? output : open(wish.error);
  const own = wish.label ? 'pipe' : 'inherit';
  const child = spawn(program, args, {
    stdio: [rank.rank === 0 ? 'inherit' : 'ignore', output ?? own, error ?? own],
    env: { ...process.env, ...variables },
  });
  if (wish.label) {
    labelled(child.stdout, (line) => context.out(`${rank.rank}: ${line}\n`));
    labelled(child.stderr, (line) => context.error(`${rank.rank}: ${line}\n`));
  }
  return new Promise((resolve) => {
    child.once('error', (problem) => {
      context.error(`srun: error: ${program}: ${problem.message}\n`);
      resolve(2);
    });
    child.once('close', (code, signal) => {
      const exit = code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0);
      if (exit !== 0)
        context.error(
          `srun: error: ${nodes[rank.node]}: task ${rank.rank}: Exited with exit code ${exit}\n`,
        );
      resolve(exit);
    });
  });
}

/** On another node of the job, by the way that MPI launchers take. */
function remote(
  { environment }: Context,
  { argv }: StepRequest,
  variables: Readonly<Record<string, string>>,
  node: string,
): readonly string[] {
  const shell = environment['WEFT_RSH'];
  if (shell === undefined) {
    throw usage(
      'Unable to create step for job: this job runs on one node only',
      'Submit it with --nodes and --ntasks-per-node.',
    );
  }
  const words = ['cd', process.cwd()].map(quoteWord).join(' ');
  const set = Object.entries(variables).map(([name, value]) => `${name}=${quoteWord(value)}`);
  return [shell, node, `${words} && exec env ${set.join(' ')} ${argv.map(quoteWord).join(' ')}`];
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
