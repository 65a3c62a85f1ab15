// Names of spool files that are used again. Making a file costs a file system more than running a
// short task: ext4 looks for an inode past all that were freed in the last half minute.

import type { LaunchOrder } from '../model/orders.ts';

/** Kept per user; each stands for two empty files. */
const IDLE_MAX = 512;

export class Spools {
  readonly #idle = new Map<number, string[]>();
  #next: number;

  /** `held`: the names that epochs of an earlier life still use. */
  constructor(held: Iterable<string>) {
    this.#next = 1;
    for (const name of held) this.#next = Math.max(this.#next, Number(name.slice(1)) + 1);
  }

  /** A name whose files are empty or not there; undefined for those named after their epoch. */
  take(uid: number, order: LaunchOrder): string | undefined {
    if (order.processesPerNode !== 1 || !isCaptured(order)) return undefined;
    const idle = this.#idle.get(uid)?.pop();
    if (idle !== undefined) return idle;
    const name = `s${this.#next}`;
    this.#next += 1;
    return name;
  }

  /** Whether there is room for one more. */
  wants(uid: number): boolean {
    return (this.#idle.get(uid)?.length ?? 0) < IDLE_MAX;
  }

  /** Only when its files are empty and nobody can write to them any more. */
  giveBack(uid: number, name: string): void {
    const idle = this.#idle.get(uid);
    if (idle === undefined) this.#idle.set(uid, [name]);
    else idle.push(name);
  }
}

function isCaptured({ files }: LaunchOrder): boolean {
  return files.stdout === undefined || files.stderr === undefined;
}
