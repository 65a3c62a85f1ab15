// To which cpus the processes of a step are bound: those of their task on a node, of which no other
// task there binds anything to any.

import { formatCpuList } from '../../../kernel/base/cpu-list.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { Cpu } from '../model/cpu.ts';

/**
 * `core`: each process has cpus of its own; `numa`: each has those of its task that are near its
 * own.
 */
export type BindTo = 'core' | 'numa';

/** Which of so many processes that a step has on the node. */
export interface BindWish {
  readonly to: BindTo;
  readonly local: number;
  readonly of: number;
}

/** Words why so many processes cannot have cpus of their own; null: they can. */
export function tooFewCpus(to: BindTo, processes: number, cpuCount: number): string | null {
  if (cpuCount > 0 && (to === 'numa' || processes <= cpuCount)) return null;
  const has = `the task has ${cpuCount} ${cpuCount === 1 ? 'cpu' : 'cpus'} there`;
  return `${processes} processes cannot be bound to a cpu each: ${has}; start fewer, or say none`;
}

/** Those of one process, of the cpus that its task has. */
export function cpusOf(held: readonly Cpu[], { to, local, of }: BindWish): readonly Cpu[] {
  const from = Math.floor((local * held.length) / of);
  const until = Math.floor(((local + 1) * held.length) / of);
  const own = held.slice(from, until);
  const near = held[from]?.numa;
  return to === 'core' ? own : held.filter(({ numa }) => numa === near);
}

/** The way Linux writes them: `0-3,8`. */
export function formatCpus(cpus: readonly Cpu[]): string {
  return formatCpuList(cpus.map(({ id }) => id));
}

/** The cpus of one machine, for all nodes that a program has there. */
export class CpuClaims {
  readonly #all: readonly Cpu[];
  readonly #held = new Map<string, readonly Cpu[]>();

  /** Neighbours are given together: cpus of one core, cores of one part of memory. */
  constructor(cpus: readonly Cpu[]) {
    this.#all = cpus.toSorted((a, b) => a.numa - b.numa || a.core - b.core || a.id - b.id);
  }

  /**
   * What a task has: the same until it is given back. Of the parts of memory with enough it has one
   * of those `near` it, where there is one: those of its gpus.
   */
  claim(task: string, count: number, near: readonly number[] = []): Result<readonly Cpu[], string> {
    const known = this.#held.get(task);
    if (known !== undefined) return ok(known);
    const taken = new Set([...this.#held.values()].flat());
    const free = this.#all.filter((cpu) => !taken.has(cpu));
    if (free.length < count) return err(this.#lacking(count, taken.size));
    const held = together(free, count, new Set(near));
    this.#held.set(task, held);
    return ok(held);
  }

  #lacking(count: number, taken: number): string {
    const has = `its machine has ${this.#all.length} cpus, ${taken} of them bound already, by other tasks or on other nodes that run there`;
    return `it cannot be bound: its task has ${count} cpus, and ${has}; start it without --bind`;
  }

  giveBack(task: string): void {
    this.#held.delete(task);
  }
}

/**
 * Cpus of one part of memory where one has enough: of the fullest of those that are near, else of
 * the fullest. Where none has enough, those that are near come first.
 */
function together(free: readonly Cpu[], count: number, near: ReadonlySet<number>): readonly Cpu[] {
  const numas = new Set(free.map(({ numa }) => numa));
  const parts = [...numas].map((one) => free.filter(({ numa }) => numa === one));
  const farness = ([cpu]: readonly Cpu[]): number =>
    cpu !== undefined && near.has(cpu.numa) ? 0 : 1;
  const all = parts.toSorted((a, b) => farness(a) - farness(b)).flat();
  const [best = all] = parts
    .filter((part) => part.length >= count)
    .sort((a, b) => farness(a) - farness(b) || a.length - b.length);
  return best.slice(0, count);
}
