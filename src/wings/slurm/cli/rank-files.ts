// Files that ranks of `srun` in a script read and write, by patterns that name each rank's own.

import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { type Rank, rankFile } from '../core/step.ts';

/** Open descriptors; null: the rank has those of srun. */
export interface RankFiles {
  readonly input: number | null;
  readonly output: number | null;
  readonly error: number | null;
}

/** Patterns, where they are said, and the folder from which they are. */
interface FilesWish {
  readonly directory: string;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly append: boolean;
}

interface Ranks {
  readonly all: readonly Rank[];
  readonly nodes: readonly string[];
  /** The step's. */
  readonly number: string;
}

/**
 * What `use` makes of the files of all ranks, which are closed when it is over. Ranks that name the
 * same file write into it by one descriptor: each with its own would write over the others. Each
 * reads a file from its beginning.
 */
export async function withFiles<Made>(
  context: Context,
  wish: FilesWish,
  ranks: Ranks,
  use: (files: readonly RankFiles[]) => Made | Promise<Made>,
): Promise<Made> {
  const opened = new Map<string, number>();
  const flag = wish.append ? 'a' : 'w';
  try {
    const files = ranks.all.map((rank): RankFiles => {
      const open = (pattern: string | undefined, how: 'r' | 'w' | 'a'): number | null => {
        if (pattern === undefined) return null;
        const file = fileOf(context, wish, ranks, { rank, pattern });
        const key = how === 'r' ? `${rank.rank} reads ${file}` : file;
        const fd = opened.get(key) ?? openOr(file, how);
        opened.set(key, fd);
        return fd;
      };
      const output = open(wish.output, flag);
      const error = wish.error === undefined ? output : open(wish.error, flag);
      return { input: open(wish.input, 'r'), output, error };
    });
    return await use(files);
  } finally {
    for (const fd of opened.values()) closeSync(fd);
  }
}

/** The file that each reads on its own node; null: none is said. */
export function inputsOf(context: Context, wish: FilesWish, ranks: Ranks): string[] | null {
  const { input: pattern } = wish;
  if (pattern === undefined) return null;
  return ranks.all.map((rank) => fileOf(context, wish, ranks, { rank, pattern }));
}

function fileOf(
  { environment }: Context,
  { directory }: FilesWish,
  { nodes, number: step }: Ranks,
  { rank, pattern }: { readonly rank: Rank; readonly pattern: string },
): string {
  const job = environment['SLURM_JOB_ID'] ?? '';
  const index = environment['SLURM_ARRAY_TASK_ID'] ?? null;
  const name = environment['SLURM_JOB_NAME'] ?? '';
  const node = nodes[rank.node] ?? '';
  const user = environment['SLURM_JOB_USER'];
  return path.resolve(directory, rankFile(pattern, rank, { job, index, name, node, step, user }));
}

function openOr(file: string, flag: 'r' | 'w' | 'a'): number {
  try {
    return openSync(file, flag);
  } catch (error) {
    throw usage(`Could not open file ${file}: ${fileProblem(error)}`);
  }
}
