// Reads and hashes the files of this machine that are about to be sent.

import { Failure, usage } from '../../model/failure.ts';
import { inParallel } from '../in-parallel.ts';
import { type LocalFile, readLocalFile } from '../local-file.ts';
import type { TransferContext } from '../transfer-context.ts';

/** One is read while another is hashed. */
const READ_AT_ONCE = 2;
const PROBLEMS_SHOWN_MAX = 20;
const CHANGED_HINT = 'It was there a moment ago: try again once nobody changes it.';

export interface Sources {
  /** A key of the caller's for each whole path. */
  readonly sources: Iterable<readonly [key: string, full: string]>;
  /** All of them together, as far as it is known. */
  readonly bytes: number;
}

/** By key. Throws one failure with all that is wrong, each problem behind `before`. */
export async function readAll(
  transfer: Pick<TransferContext, 'progress'>,
  { sources, bytes }: Sources,
  before = '',
): Promise<ReadonlyMap<string, LocalFile>> {
  const files = new Map<string, LocalFile>();
  const problems: string[] = [];
  const line = transfer.progress('reading');
  line.start(bytes);
  try {
    await inParallel([...sources], READ_AT_ONCE, async ([key, full]) => {
      try {
        files.set(key, await readLocalFile(full, line.moved));
      } catch (error) {
        if (!(error instanceof Failure) || problems.length >= PROBLEMS_SHOWN_MAX) throw error;
        problems.push(error.message);
      }
    });
  } finally {
    line.stop();
  }
  if (problems.length === 0) return files;
  throw usage(problems.map((problem) => `${before}${problem}`).join('\n'), CHANGED_HINT);
}
