// Names that become folders and files: of namespaces, batches, jobs, and of files where they are
// used.

import { hiddenIn } from '../base/plain-line.ts';
import { utf8Length } from '../base/utf8.ts';

/** Leaves room for `_output.txt` and the like behind it: Linux takes 255 bytes. */
const NAME_BYTES_MAX = 200;
const FILE_NAME_BYTES_MAX = 255;
const PATH_BYTES_MAX = 4095;

/** Folders of the batch itself, beside those of its jobs. */
const RESERVED: ReadonlySet<string> = new Set(['_build', '_batch.json']);
/** Made in the work directory by whoever starts a job. */
const WORK_FOLDERS: ReadonlySet<string> = new Set(['input', 'distribute_save', 'initial_files']);

/** What is wrong with the name of a namespace, batch or job; null when nothing is. */
export function nameProblem(name: string): string | null {
  const wrong = componentProblem(name, NAME_BYTES_MAX);
  if (wrong !== null) return wrong;
  if (/^[-.]/.test(name)) return `'${name}' begins with '${name[0]}'; begin with a letter or digit`;
  if (name !== name.trim()) return `'${name}' begins or ends with a blank`;
  return null;
}

/** Like `nameProblem`; `@` stands before the number of a version. */
export function batchNameProblem(name: string): string | null {
  const wrong = nameProblem(name);
  if (wrong !== null || !name.includes('@')) return wrong;
  return `'${name}' has an '@', which stands before the number of a version, as in sweep_01@2`;
}

/** Like `nameProblem`; some folders of a batch are not those of jobs. */
export function jobNameProblem(name: string): string | null {
  return RESERVED.has(name) ? `'${name}' is a name of the archive's own` : nameProblem(name);
}

/** What is wrong with the name that a file gets in the folder of its job. */
export function fileNameProblem(name: string): string | null {
  return componentProblem(name, FILE_NAME_BYTES_MAX);
}

/** The same for a program, which lies beside the folders of the job. */
export function programNameProblem(name: string): string | null {
  const taken = `'${name}' is the name of a folder that every job has; give another one with 'as'`;
  return WORK_FOLDERS.has(name) ? taken : fileNameProblem(name);
}

/** What is wrong with a path on the submitter's machine. */
export function pathProblem(path: string): string | null {
  if (path === '') return 'is empty; write the path of a file';
  if (path.includes('\0')) return 'the path has a NUL character in it';
  const bytes = utf8Length(path);
  return bytes > PATH_BYTES_MAX ? `the path has ${bytes} bytes; at most ${PATH_BYTES_MAX}` : null;
}

/** The last part of a path; empty when that is no name, as of `..`. */
export function baseName(path: string): string {
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return last === '.' || last === '..' ? '' : last;
}

function componentProblem(name: string, bytesMax: number): string | null {
  if (name === '') return 'is empty; write a name';
  const bytes = utf8Length(name);
  if (bytes > bytesMax) return `the name has ${bytes} bytes; at most ${bytesMax}`;
  if (name === '.' || name === '..') return `'${name}' is no name but a folder's way`;
  if (name.includes('\0')) return 'the name has a NUL character in it';
  const separator = /[/\\]/.exec(name)?.[0];
  if (separator !== undefined) return `'${name}' has a separator ${separator}; write one name`;
  const hidden = hiddenIn(name);
  if (hidden === null) return null;
  return `the name has control characters or others that are not seen (${hidden}), or is not valid UTF-8`;
}
