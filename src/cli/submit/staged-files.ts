// `--in` and `--out`: which files of this machine go with a job, and which of its own it keeps.

import { err, ok, type Result } from '../../core/base/result.ts';
import { parseGlob } from '../../core/batch/glob.ts';
import { baseName, pathProblem } from '../../core/batch/names.ts';
import { pathFlaw } from '../../core/files/entry.ts';
import { usage } from '../../core/model/failure.ts';
import type { Program } from '../../core/model/job.ts';
import type { StagingWish } from '../../core/model/staging.ts';
import { readAll } from './read.ts';

export interface StagingOptions {
  readonly in?: readonly string[];
  readonly out?: readonly string[];
}

/** A file or folder here, and its place in the job's directory. */
export interface InputWish {
  readonly typed: string;
  readonly path: string;
  /** Null: a folder whose content goes to the top. */
  readonly as: string | null;
}

/** What `--out` takes for nothing at all. */
const NOTHING = 'none';

/** `PATH`, `PATH=NAME`, `PATH=FOLDER/`, or `FOLDER=.` for what is in it. The last `=` counts. */
export function parseInput(typed: string): Result<InputWish, string> {
  const at = typed.lastIndexOf('=');
  const path = at === -1 ? typed : typed.slice(0, at);
  const name = at === -1 ? '' : typed.slice(at + 1);
  const problem = pathProblem(path);
  if (problem !== null) return err(path === '' ? `'${typed}' names no file` : problem);
  if (at !== -1 && name === '') return err(`'${typed}' has no name after its =`);
  if (name === '.' || (name === '' && /^\.\/*$/.test(path))) return ok({ typed, path, as: null });
  const own = baseName(path);
  const isBelow = name === '' || name.endsWith('/');
  if (isBelow && own === '') return err(`'${typed}' has no name of its own; write ${path}=NAME`);
  const as = isBelow ? `${name}${own}` : name;
  const flaw = pathFlaw(as);
  return flaw === null
    ? ok({ typed, path, as })
    : err(`'${typed}': ${flaw} in the job's directory`);
}

/** Files are brought to a directory of the job's own, and kept from there. */
export function needsOwnDirectory({ in: inputs, out }: StagingOptions): boolean {
  return inputs !== undefined || (out !== undefined && !out.includes(NOTHING));
}

/** All that goes with a job. */
export interface InputWishes {
  readonly wishes: readonly InputWish[];
  /** Its program, where that is named by where it is here. */
  readonly program: InputWish | null;
}

/** Null when nothing goes with it. */
export function inputsOf(options: StagingOptions, program: Program): InputWishes | null {
  if (!needsOwnDirectory(options)) return null;
  const wishes = readAll('--in', options.in, parseInput) ?? [];
  const own = programWish(program);
  return wishes.length === 0 && own === null ? null : { wishes, program: own };
}

/** In a directory of its own the job would not find it. Null for a program that its node has. */
function programWish(program: Program): InputWish | null {
  const [first = ''] = program.kind === 'argv' ? program.argv : [];
  const as = first.replace(/^(\.\/+)+/, '');
  const isHere = first.includes('/') && !first.startsWith('/') && pathFlaw(as) === null;
  return isHere ? { typed: first, path: first, as } : null;
}

/** The wish without its inputs, which only the head can name; undefined when there is none. */
export function stagingWish({ in: inputs, out }: StagingOptions): StagingWish | undefined {
  readAll('--in', inputs, parseInput);
  if (out === undefined) return inputs === undefined ? undefined : {};
  if (!out.includes(NOTHING)) {
    readAll('--out', out, parseGlob);
    return { outputs: out };
  }
  const isOnly = out.every((pattern) => pattern === NOTHING);
  if (!isOnly) throw usage("--out: 'none' keeps nothing, and other patterns are given too");
  return { outputs: [] };
}
