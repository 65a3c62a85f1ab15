// Processes that others have started, by proc(5): what ends a step ends all of it.

import { readdirSync } from 'node:fs';
import { statFields } from '../../../kernel/connect/process-file.ts';

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** By it another process that has the number by now is told apart. */
  readonly began: string;
}

export class ProcessTree {
  readonly #known = new Map<number, string>();

  /** Those of these processes, of what they have started, and of what was found so before. */
  signal(roots: readonly number[], number: number): void {
    const now = new Map(processes().map((one) => [one.pid, one]));
    for (const { pid, began } of below(roots, now)) this.#known.set(pid, began);
    for (const [pid, began] of this.#known) {
      if (now.get(pid)?.began !== began) this.#known.delete(pid);
      else send(pid, number);
    }
  }
}

function send(pid: number, number: number): void {
  try {
    process.kill(pid, number);
  } catch {
    // It has just ended.
  }
}

function below(roots: readonly number[], all: ReadonlyMap<number, Process>): Process[] {
  const found = new Set(roots.filter((pid) => all.has(pid)));
  const children = Map.groupBy(all.values(), ({ parent }) => parent);
  // What is added while it is gone through is gone through as well.
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child.pid);
  return [...found].flatMap((pid) => all.get(pid) ?? []);
}

function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const fields = statFields(Number(name));
      return [{ pid: Number(name), parent: Number(fields[1]), began: fields[19] ?? '' }];
    } catch {
      return [];
    }
  });
}
