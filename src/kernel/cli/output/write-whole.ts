// A file that somebody named, written whole or not at all.

import {
  closeSync,
  fchmodSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileProblem } from '../../config/file-problem.ts';
import { usage } from '../../model/failure.ts';

/** Nothing can be put beside the file, which itself may well be written. */
const NOT_BESIDE = ['EACCES', 'EPERM', 'ENAMETOOLONG'];

/** Written aside and put in its place; a device or a pipe gets the text as it is. */
export function writeWhole(
  cwd: string,
  { flag, file }: { flag: string; file: string },
  text: string,
) {
  const named = path.resolve(cwd, file);
  try {
    const known = statSync(named, { throwIfNoEntry: false });
    if (known?.isFile() === false) return writeFileSync(named, text);
    const target = targetOf(named);
    const aside = openAside(`${target}.${process.pid}.part`);
    if (aside === null) return writeFileSync(target, text);
    replace(target, aside, { text, mode: known?.mode });
  } catch (cause) {
    throw usage(`${flag}: cannot write ${file}: ${fileProblem(cause)}`);
  }
}

/** A link stays one: what it leads to is written, also where that is not there yet. */
function targetOf(named: string): string {
  if (lstatSync(named, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return named;
  return targetOf(path.resolve(realpathSync(path.dirname(named)), readlinkSync(named)));
}

interface Aside {
  readonly name: string;
  readonly fd: number;
}

function openAside(name: string): Aside | null {
  try {
    return { name, fd: openSync(name, 'wx', 0o666) };
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (NOT_BESIDE.includes(code)) return null;
    if (code === 'EEXIST') throw new Error(`${name} is in the way; remove it`, { cause });
    throw cause;
  }
}

function replace(
  target: string,
  { name, fd }: Aside,
  { text, mode }: { readonly text: string; readonly mode: number | undefined },
): void {
  try {
    try {
      // Before there is anything to read; a umask has no say in what was there before.
      if (mode !== undefined) fchmodSync(fd, mode & 0o777);
      writeFileSync(fd, text);
    } finally {
      closeSync(fd);
    }
    renameSync(name, target);
  } catch (error) {
    rmSync(name, { force: true });
    throw error;
  }
}
