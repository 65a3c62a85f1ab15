// Programs of ours that tasks run: those for steps, with `--mpi`, and the worker of pools.

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface StepPrograms {
  readonly server: readonly string[];
  readonly client: string;
}

/** Both move bytes and keep none, and what they take is of the job's memory. */
const SMALL = ['--max-semi-space-size=1', '--max-old-space-size=64'];

/**
 * Writes the client as a script of the state directory: it starts with this very Node.js, whatever
 * a job's PATH has, and launchers can be given its path as one word.
 */
export function stepPrograms(stateDir: string): StepPrograms {
  const client = writeProgram(stateDir, 'weft-rsh', programFile('weft-rsh'));
  return { server: [process.execPath, ...SMALL, programFile('weft-rshd')], client };
}

/** Path of the worker's own process: it relays calls, and another one runs what users wrote. */
export function workerProgram(stateDir: string): string {
  return writeProgram(stateDir, 'weft-worker', workerStarter());
}

/** The same for a Node of a container, and the folder with all that it loads. */
export function workerElsewhere(starter = workerStarter()): {
  readonly argv: readonly string[];
  readonly folder: string;
} {
  return { argv: [...SMALL, starter], folder: folderOf(dirname(dirname(starter))) };
}

/** npm puts the packages that ours needs beside it, and only those that clash there into it. */
function folderOf(root: string): string {
  const beside = dirname(root);
  return basename(beside) === 'node_modules' ? beside : root;
}

function workerStarter(): string {
  return fileURLToPath(new URL('../../../../bin/weft-worker.cjs', import.meta.url));
}

function writeProgram(stateDir: string, name: string, file: string): string {
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

/** From the sources, or compiled. */
function programFile(name: string): string {
  const extension = extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`../../../bin/${name}${extension}`, import.meta.url));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
