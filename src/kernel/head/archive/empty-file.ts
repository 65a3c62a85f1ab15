// One empty file under very many names: most tasks print nothing, and a file of its own for each of
// their streams would cost more than all else that is archived of them.

import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { codeOf } from '../disk/disk-errors.ts';

/** `file`: where it is, or will be. */
export function linkEmpty(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch (error) {
    // It is not there yet, or has as many names as a file may have.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EMLINK') throw error;
    rmSync(file, { force: true });
    closeSync(openSync(file, 'wx', 0o600));
    linkSync(file, to);
  }
}
