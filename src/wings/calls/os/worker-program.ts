// The program of a pool's workers, on a node and in a container.

import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SMALL, writeProgram } from '../../../kernel/os/own-programs.ts';

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
