// The environment that a task began with, asked of its first process: whatever a script exports
// after that is in those of its children alone.

import { readFileSync } from 'node:fs';
import { statFields } from '../../../kernel/connect/process-file.ts';

/** What a process began with, and which one started it. */
export interface Begun {
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly parent: number;
}

/** Shells that call shells; more than any script has. */
const DEEP_MAX = 64;

/**
 * `mark`: `WEFT_LAUNCH` of the task, or what else tells its processes, in the variable `by`. Null:
 * there is none, or `pid` is not of the task.
 */
export function taskEnvironment(
  pid: number,
  mark: string | undefined,
  read: (pid: number) => Begun | null = begun,
  by = 'WEFT_LAUNCH',
): Readonly<NodeJS.ProcessEnv> | null {
  if (mark === undefined) return null;
  let first: Readonly<NodeJS.ProcessEnv> | null = null;
  let at = pid;
  for (let depth = 0; depth < DEEP_MAX && at > 1; depth += 1) {
    const process = read(at);
    if (process === null || process.environment[by] !== mark) break;
    first = process.environment;
    at = process.parent;
  }
  return first;
}

/** By proc(5); null: it is over, or somebody else's. */
function begun(pid: number): Begun | null {
  try {
    const words = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const parent = Number(statFields(pid)[1]);
    const pairs = words.flatMap((word) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(Buffer.from(word, 'latin1').toString()) ?? [];
      return name === undefined ? [] : [[name, value] as const];
    });
    return { environment: Object.fromEntries(pairs), parent };
  } catch {
    return null;
  }
}
