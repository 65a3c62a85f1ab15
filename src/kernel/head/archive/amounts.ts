// How much is kept of a job. Whoever waits for a job of many tasks asks again and again, and each
// task has a file of its own that says it: so it is counted once, and what is published meanwhile
// is added.

import type { TaskArchive } from '../../files/job-manifest.ts';
import type { PartAmounts } from './intake.ts';

/** Tasks of an array that are looked at. */
export const TASKS_COUNTED_MAX = 1000;
/** Jobs that somebody has asked for. */
const JOBS_MAX = 100;

export interface Removed extends PartAmounts {
  readonly tasks: number;
}

export interface KeptAmounts extends Removed {
  /** There are more tasks than were counted. */
  readonly more: boolean;
}

export const NOTHING: Removed = { tasks: 0, files: 0, bytes: 0, leftOut: 0 };

/** One task, for a plain job with the index null. */
type Task = Pick<TaskArchive, 'index' | 'files' | 'bytes' | 'leftOut'>;

interface Counted {
  readonly indices: Set<number | null>;
  amounts: KeptAmounts;
}

export class Amounts {
  readonly #counted = new Map<number, Counted>();
  /** Another one: something has gone, or is new, since somebody began to count. */
  #version = 0;

  /** `list`: the first tasks of a job that have something, one more than are counted. */
  async of(jobId: number, list: () => Promise<readonly Task[]>): Promise<KeptAmounts | null> {
    let counted = this.#counted.get(jobId);
    if (counted === undefined) {
      const version = this.#version;
      counted = count(await list());
      if (version === this.#version) this.#keep(jobId, counted);
    }
    return counted.amounts.tasks === 0 ? null : counted.amounts;
  }

  published(jobId: number, task: Task): void {
    this.#version += 1;
    const counted = this.#counted.get(jobId);
    // A count that was under way may have seen it.
    if (counted === undefined || counted.indices.has(task.index)) return;
    if (counted.indices.size === TASKS_COUNTED_MAX) {
      counted.amounts = { ...counted.amounts, more: true };
      return;
    }
    counted.indices.add(task.index);
    const { more } = counted.amounts;
    counted.amounts = { ...added(counted.amounts, { ...task, tasks: 1 }), more };
  }

  /** Something has gone. */
  forget(): void {
    this.#version += 1;
    this.#counted.clear();
  }

  #keep(jobId: number, counted: Counted): void {
    this.#counted.set(jobId, counted);
    for (const oldest of this.#counted.keys()) {
      if (this.#counted.size <= JOBS_MAX) return;
      this.#counted.delete(oldest);
    }
  }
}

function count(tasks: readonly Task[]): Counted {
  const some = tasks.slice(0, TASKS_COUNTED_MAX);
  return {
    indices: new Set(some.map(({ index }) => index)),
    amounts: { ...sumOf(some), more: tasks.length > TASKS_COUNTED_MAX },
  };
}

export function sumOf(tasks: readonly Task[]): Removed {
  return tasks.reduce<Removed>((sum, task) => added(sum, { ...task, tasks: 1 }), NOTHING);
}

export function added(sum: Removed, { tasks, files, bytes, leftOut }: Removed): Removed {
  return {
    tasks: sum.tasks + tasks,
    files: sum.files + files,
    bytes: sum.bytes + bytes,
    leftOut: sum.leftOut + leftOut,
  };
}
