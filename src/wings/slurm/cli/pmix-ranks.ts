// Ranks of Open MPI in a script: `srun` starts the node's own `mpirun`, and tells apart what ranks
// write.

import { type ChildProcess, spawn } from 'node:child_process';
import { write } from 'node:fs';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { LineLabeller } from '../../../kernel/cli/jobs/line-labeller.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { boundArgv, byRank, cpusByRank, pmixArgv, TaggedOutput } from '../../steps/core/pmix.ts';
import { ownGpus } from '../core/become.ts';
import type { Rank } from '../core/step.ts';
import { ProcessTree } from './processes-below.ts';

interface RankStart {
  /** Gpus of each rank; null: all of its task there. */
  readonly gpus: string | null;
  /** The file of each; absent or null: none. */
  readonly input?: readonly string[] | null;
}

/** Tells each rank in the words of Slurm which of all it is, and gives it its gpus and its file. */
export function beginOf(ranks: readonly Rank[], { gpus, input = null }: RankStart): string {
  const used = [...new Set(ranks.map(({ node }) => node))];
  const step =
    'SLURM_PROCID=$OMPI_COMM_WORLD_RANK SLURM_LOCALID=$OMPI_COMM_WORLD_LOCAL_RANK; ' +
    `if [ "$WEFT_STEP_ID" ]; then SLURM_STEP_ID=\${WEFT_STEP_ID##*.} SLURM_STEPID=\${WEFT_STEP_ID##*.}; fi; `;
  const node = byRank(ranks.map((rank) => `SLURM_NODEID=${used.indexOf(rank.node)};`));
  const reads =
    input === null ? '' : byRank(input.map((file) => `exec <${quoteWord(file)} || exit 1;`));
  const own = gpus === null ? '' : ownGpus(gpus);
  return `${step}${node} SLURM_TASK_PID=$$; export SLURM_TASK_PID SLURM_PROCID SLURM_LOCALID SLURM_NODEID SLURM_STEP_ID SLURM_STEPID; ${own}${reads}`;
}

export interface PmixRanks {
  readonly argv: readonly string[];
  /** By rank. */
  readonly nodes: readonly string[];
  readonly here: string;
  readonly all: readonly Rank[];
  /** Names of the environment's variables that ranks are to have, or not to have. */
  readonly handed: readonly string[];
  readonly taken: readonly string[];
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly label: boolean;
  /** Open files of each rank; null: that of srun. */
  readonly files: readonly { readonly output: number | null; readonly error: number | null }[];
  /** Cpus of each rank; null: they are not bound. */
  readonly cpus: readonly string[] | null;
  /** Gpus of each rank; null: all of its task there. */
  readonly gpus: string | null;
  /** The file that each rank reads; null: the first one reads what srun does. */
  readonly input: readonly string[] | null;
  readonly started: (child: ChildProcess) => void;
}

/** The exit code of them all. */
export async function runPmix(context: Context, wish: PmixRanks): Promise<number> {
  const { argv, nodes, here, all, handed, taken, files, input, label } = wish;
  const isTagged = label || files.some(({ output, error }) => output !== null || error !== null);
  const { cpus, gpus } = wish;
  const begin = `${beginOf(all, { gpus, input })}${cpus === null ? '' : cpusByRank(cpus)}`;
  const words = pmixArgv({
    argv: cpus === null ? argv : boundArgv(argv),
    nodes,
    here,
    handed,
    taken,
    begin,
    isTagged,
  });
  const [program = '', ...args] = words;
  const own = isTagged ? 'pipe' : 'inherit';
  const child = spawn(program, args, {
    stdio: [input === null ? 'inherit' : 'ignore', own, own],
    cwd: wish.directory,
    env: wish.environment,
  });
  wish.started(child);
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0)),
    );
  });
  const shown = [
    tellApart(child.stdout, (rank) => sinkFor(context, wish, { rank, stream: 'out' })),
    tellApart(child.stderr, (rank) => sinkFor(context, wish, { rank, stream: 'error' })),
  ];
  try {
    const [code] = await Promise.all([ended, ...shown]);
    return code;
  } catch (error) {
    await endAll(child, [ended, ...shown]);
    throw error;
  }
}

/** For ranks to end that are told to, before they are killed. */
const END_MS = 5_000;

/** Until all is over that writes into files of this step. */
async function endAll(child: ChildProcess, parts: readonly Promise<unknown>[]): Promise<void> {
  const tree = new ProcessTree();
  // The number of one that is over may be that of another.
  const roots = () =>
    child.exitCode === null && child.signalCode === null ? [child.pid ?? []].flat() : [];
  tree.signal(roots(), constants.signals.SIGTERM);
  const late = setTimeout(() => {
    tree.signal(roots(), constants.signals.SIGKILL);
    // Whoever has left the tree may hold these open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, END_MS);
  await Promise.allSettled(parts);
  clearTimeout(late);
}

interface Sink {
  write(bytes: Uint8Array): unknown;
  end(): void;
}

const writeTo = promisify(write);

/** How many of them are written. */
async function writeOr(file: number, bytes: Uint8Array): Promise<number> {
  try {
    return (await writeTo(file, bytes)).bytesWritten;
  } catch (error) {
    throw usage(`Could not write what a rank has written: ${fileProblem(error)}`);
  }
}

function sinkFor(
  context: Context,
  { label, files, all }: PmixRanks,
  { rank, stream }: { readonly rank: number | null; readonly stream: 'out' | 'error' },
): Sink {
  const file = rank === null ? null : files[rank]?.[stream === 'out' ? 'output' : 'error'];
  if (file != null)
    return {
      write: async (bytes) => {
        for (let at = 0; at < bytes.length; ) {
          at += await writeOr(file, bytes.subarray(at));
        }
      },
      end: () => undefined,
    };
  if (rank === null || !label)
    return { write: (bytes) => context[stream](bytes), end: () => undefined };
  const mark = String(rank).padStart(String(all.length - 1).length);
  return new LineLabeller(`${mark}: `, (bytes) => context[stream](bytes));
}

/** Resolves when all is written. */
async function tellApart(
  stream: NodeJS.ReadableStream | null,
  sinkOf: (rank: number | null) => Sink,
): Promise<void> {
  if (stream === null) return;
  const output = new TaggedOutput();
  const sinks = new Map<number | null, Sink>();
  const show = async (written: ReturnType<TaggedOutput['write']>): Promise<void> => {
    for (const { rank, text } of written) {
      const sink = sinks.get(rank) ?? sinkOf(rank);
      sinks.set(rank, sink);
      await sink.write(Buffer.from(text, 'latin1'));
    }
  };
  for await (const bytes of stream) await show(output.write((bytes as Buffer).toString('latin1')));
  await show(output.end());
  for (const sink of sinks.values()) sink.end();
}
