// Which files of this machine go with a job, and where they get to in its directory.

import { err, ok, type Result } from '../../base/result.ts';
import { pathFlaw } from '../../files/entry.ts';
import { baseName, pathProblem } from '../../files/names.ts';
import type { Program } from '../../model/job.ts';

const SHOWN_MAX = 200;

/** A file or folder here, and its place in the job's directory. */
export interface InputRequest {
  readonly typed: string;
  readonly path: string;
  /** Null when a folder whose content goes to the top. */
  readonly as: string | null;
}

/** All that goes with a job. */
export interface InputRequests {
  readonly wishes: readonly InputRequest[];
  /** The job's program, where it is named by its path here. */
  readonly program: InputRequest | null;
}

/** `PATH`, `PATH=NAME`, `PATH=FOLDER/`, or `FOLDER=.` for what is in it. The last `=` counts. */
export function parseInput(typed: string): Result<InputRequest, string> {
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
    : err(`'${shown(typed)}': ${flaw} in the job's directory`);
}

/** A name of 4 KiB says nothing more than its beginning does. */
function shown(typed: string): string {
  return typed.length > SHOWN_MAX ? `${typed.slice(0, SHOWN_MAX)}…` : typed;
}

/** In a directory of its own the job would not find it. Null for a program that its node has. */
export function programRequest(program: Program): InputRequest | null {
  const [first = ''] = program.kind === 'argv' ? program.argv : [];
  const as = first.replace(/^(\.\/+)+/, '');
  const isHere = first.includes('/') && !first.startsWith('/') && pathFlaw(as) === null;
  return isHere ? { typed: first, path: first, as } : null;
}
