// What downloads of any size have in common: what is wanted, where it is written meanwhile, and how
// a line that breaks is told from a disk that is full.

import { CODING_HEADER, CODINGS, decompressed, READS_HEADER } from '../api/coding.ts';
import type { Answer } from '../api/exchange.ts';
import { fileProblem } from '../config/file-problem.ts';
import type { BlobHash } from '../model/blob.ts';
import { refuse } from '../model/errors.ts';
import { Failure, failure, usage } from '../model/failure.ts';

/** A connection on which nothing comes is given up for a new one. */
const STALL_MS = 60_000;

export interface Wanted {
  readonly hash: BlobHash;
  readonly size: number;
  /** Where it goes. What lies there is replaced, once the new content is whole. */
  readonly path: string;
  /** Permission bits; absent: as the umask says. */
  readonly mode?: number;
}

/** How whoever fetches many contents is told about each. */
export interface Arrivals {
  /** Called with the number of bytes that have come. */
  readonly moved?: (bytes: number) => void;
  /** The head has none that is whole: the others still come. Absent: that fails all of them. */
  readonly flawed?: (wanted: Wanted, problem: Failure) => void;
}

/** What is wrong with the content itself, and not with the way; null: something else is. */
export function flawOf(error: unknown): Failure | null {
  return error instanceof Failure && FLAWS.has(error.code) ? error : null;
}

const FLAWS: ReadonlySet<string> = new Set(['blob.damaged', 'blob.not_found']);

/** Names are at most 255 bytes long (NAME_MAX); a character has up to four of them. */
const NAME_CHARACTERS_MAX = 50;

/** Beside its place, so that it can be renamed; the same one for the next try. */
export function asideOf({ path, hash }: Pick<Wanted, 'path' | 'hash'>): string {
  const from = path.lastIndexOf('/') + 1;
  return `${path.slice(0, from + NAME_CHARACTERS_MAX)}.${hash.slice(0, 12)}.part`;
}

/** What a request says whose answer is read by `untilStuck`. */
export const READS: Readonly<Record<string, string>> =
  CODINGS.length === 0 ? {} : { [READS_HEADER]: CODINGS.join() };

/** What comes. A line that breaks, or stalls, is a head that is away. */
export async function* untilStuck(answer: Answer, address: string): AsyncGenerator<Uint8Array> {
  const plain = answer.headers[CODING_HEADER] === undefined ? answer : decompressed(answer);
  const watch = setTimeout(() => plain.destroy(new Error('nothing came')), STALL_MS).unref();
  const pieces = plain[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await pieces.next().catch((error: Error) => {
        throw failure(refuse('head.unreachable', { address, cause: error.message }));
      });
      if (next.done === true) return;
      watch.refresh();
      yield next.value as Uint8Array;
    }
  } finally {
    clearTimeout(watch);
  }
}

/** What is there stays beside its place, to go on from. */
export function localProblem(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined || error instanceof Failure) return error;
  const hint =
    code === 'ENOSPC' ? 'What came so far is kept beside it: make room and try again.' : undefined;
  const problem = usage(`cannot write ${path}: ${fileProblem(error)}`, hint);
  problem.cause = error;
  return problem;
}
