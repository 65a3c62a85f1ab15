// The program that runs a step on a node: the launcher's second form, where every user may start
// it.

import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LauncherProgram } from '../../../kernel/os/launcher-build.ts';

/**
 * Copied, as the launcher may lie in a folder of root's own. Null: the launcher of this machine is
 * no such program.
 */
export function helperOf(
  stateDir: string,
  { kind, command }: Pick<LauncherProgram, 'kind' | 'command'>,
): readonly string[] | null {
  const [program] = command;
  if (kind !== 'c' || program === undefined) return null;
  const folder = join(stateDir, 'bin');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755); // Whatever the umask.
  const path = join(folder, 'weft-step');
  if (!isSame(path, program)) {
    // Steps may be running it: it is there whole.
    const fresh = `${path}.new`;
    copyFileSync(program, fresh);
    chmodSync(fresh, 0o755);
    renameSync(fresh, path);
  }
  return [path, '--step'];
}

/**
 * A launcher's name has the hash of its sources; a copy of another one is older or of another size.
 */
function isSame(path: string, program: string): boolean {
  if (!existsSync(path)) return false;
  const [copy, original] = [statSync(path), statSync(program)];
  return copy.size === original.size && copy.mtimeMs >= original.mtimeMs;
}
