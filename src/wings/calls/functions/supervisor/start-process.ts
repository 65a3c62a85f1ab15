// Starts the process of a child. What keeps it from starting is an error here, or an event of the
// process; it is thrown by nobody.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface Started {
  readonly process: ChildProcess;
  readonly stderr: Readable;
  readonly calls: Writable;
  readonly results: Readable;
}

export function startProcess(
  [program = '', ...args]: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
): Started | Error {
  let started: ChildProcess;
  try {
    const stdio = ['ignore', 'inherit', 'pipe', 'pipe', 'pipe'] as const;
    started = spawn(program, args, { ...options, stdio: [...stdio] });
  } catch (error) {
    // No memory for a process, for one.
    return error instanceof Error ? error : new Error(String(error));
  }
  // With no file left to open Node makes no pipes, and tells the error by an event as well.
  if (started.stdio === undefined) {
    started.on('error', () => undefined);
    return new Error('too many files are open');
  }
  const [, , stderr, calls, results] = started.stdio;
  return {
    process: started,
    stderr: stderr as Readable,
    calls: calls as Writable,
    results: results as Readable,
  };
}
