// The programs for steps of tasks with `--mpi`.

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SMALL, writeProgram } from '../../../kernel/os/own-programs.ts';

export interface StepPrograms {
  readonly server: readonly string[];
  readonly client: string;
}

/** Writes the client as a script of the state directory; launchers take it for remote shell. */
export function stepPrograms(stateDir: string): StepPrograms {
  const client = writeProgram(stateDir, 'weft-rsh', programFile('weft-rsh'));
  return { server: [process.execPath, ...SMALL, programFile('weft-rshd')], client };
}

/** From the sources, or compiled. */
function programFile(name: string): string {
  const extension = extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`../bin/${name}${extension}`, import.meta.url));
}
