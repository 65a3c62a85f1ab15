// A file that somebody named, written whole or not at all.

import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileProblem } from '../../config/file-problem.ts';
import { usage } from '../../core/model/failure.ts';

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
    // A link stays one: what it leads to is written.
    const target = known === undefined ? named : realpathSync(named);
    const aside = `${target}.${process.pid}.part`;
    try {
      writeFileSync(aside, text, { flag: 'wx', mode: known === undefined ? 0o666 : known.mode });
      renameSync(aside, target);
    } catch (error) {
      rmSync(aside, { force: true });
      throw error;
    }
  } catch (cause) {
    throw usage(`${flag}: cannot write ${file}: ${fileProblem(cause)}`);
  }
}
