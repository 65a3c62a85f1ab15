// Programs of ours that tasks run, each as a script of one word in the state directory of an agent.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Options of Node.js for those that move bytes and keep none: they take of the job's memory. */
export const SMALL = ['--max-semi-space-size=1', '--max-old-space-size=64'];

/**
 * Writes it as a script that starts with this very Node.js, whatever a job's PATH has, and that
 * others can be given as one word. Its path.
 */
export function writeProgram(stateDir: string, name: string, file: string): string {
  const folder = join(stateDir, 'bin');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755); // Whatever the umask.
  const path = join(folder, name);
  const words = [process.execPath, ...SMALL, file].map(quoted).join(' ');
  keepScript(path, `#!/bin/sh\nexec ${words} "$@"\n`);
  return path;
}

/** Jobs may be reading it at any time: it is there whole, and is left alone while it is right. */
function keepScript(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return chmodSync(path, 0o755);
  const fresh = `${path}.new`;
  writeFileSync(fresh, text);
  chmodSync(fresh, 0o755);
  renameSync(fresh, path);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
