// This process's terminal, arguments and programs, for the command line.

import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Programs } from '../cli/daemons/daemon-options.ts';
import type { Invocation } from '../cli/main.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
// In the package the programs are compiled and end in .js, as this file does there.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const PROGRAMS: Programs = {
  headScript: here(`./head.${extension}`),
  agentScript: here(`./agent.${extension}`),
  runHead: async (options) => (await import('./head.ts')).runHead(options),
  runAgent: async (options) => (await import('./agent.ts')).runAgent(options),
};

/** What this process was started with. */
export function invocation(program: string): Invocation {
  return {
    program,
    argv: process.argv.slice(2),
    terminal: {
      out: (text) => void process.stdout.write(text),
      error: writeError,
      outIsTerminal: process.stdout.isTTY === true,
      errorIsTerminal: process.stderr.isTTY === true,
    },
    environment: process.env,
    cwd: process.cwd(),
    programs: PROGRAMS,
  };
}

/** Ends this process with the exit code once everything is written. */
export async function finish(work: Promise<number>): Promise<void> {
  // `weft jobs | head -1` closes the pipe: what is not read need not be written.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(141);
  });
  process.exitCode = await work;
}

function writeError(text: string | Uint8Array): void {
  try {
    writeSync(2, text as string);
  } catch (error) {
    // A full pipe that nobody reads right now: leave it to the stream, which waits.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') process.stderr.write(text);
  }
}
