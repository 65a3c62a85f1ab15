// The file in which the owner of a machine says what may be done with it. Root says by a mode and
// an owner of the file who that is; nothing is believed that everybody may write.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import type { OwnerFile } from '../model/owner-file.ts';
import { parseOwnerRules } from './owner-rules.ts';

const NONE: OwnerFile = { rules: null, problem: null };
const BYTES_MAX = 65_536;
const OTHERS_WRITE = 0o002;

/** Not another file than it names: no link of anybody is followed, and no pipe is waited for. */
const HOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function readOwnerFile(path: string): OwnerFile {
  let file: number;
  try {
    file = openSync(path, HOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return NONE;
    if (code === 'ELOOP') return wrong(path, 'is a link; make it a file');
    return wrong(path, `cannot be read: ${fileProblem(error)}`);
  }
  try {
    const problem = problemOf(fstatSync(file));
    if (problem !== null) return wrong(path, problem);
    const parsed = parseOwnerRules(textOf(file), path);
    return parsed.ok
      ? { rules: parsed.value, problem: null }
      : { rules: null, problem: parsed.error };
  } catch (error) {
    return wrong(path, `cannot be read: ${fileProblem(error)}`);
  } finally {
    closeSync(file);
  }
}

function problemOf(stats: Stats): string | null {
  if (!stats.isFile()) return 'is no file';
  if (stats.size > BYTES_MAX) return 'is too large for a few rules';
  if ((stats.mode & OTHERS_WRITE) !== 0) return 'may be written by everybody: chmod o-w';
  return null;
}

function textOf(file: number): string {
  const bytes = Buffer.alloc(BYTES_MAX);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, BYTES_MAX, 0));
}

function wrong(path: string, what: string): OwnerFile {
  return { rules: null, problem: `${path} ${what}` };
}
