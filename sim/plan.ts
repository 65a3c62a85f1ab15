// What a simulated program does, written into its command line by the workload and read again by
// the kernel that runs it.

import type { Program } from '../src/kernel/model/job.ts';

export interface Plan {
  /** By which a run knows it again; absent: it has none. */
  readonly name?: string;
  /** Null: it never ends by itself. */
  readonly runMs: number | null;
  /** Each task of its array whose index divides by `every` runs for so long instead. */
  readonly slow?: { readonly every: number; readonly runMs: number };
  readonly code: number;
  /** Ends by this signal of its own instead of with `code`. */
  readonly signal: number | null;
  readonly ignoresTerm: boolean;
  /** Processes that it leaves behind in sessions of their own, and how long those live. */
  readonly leftovers: number;
  readonly leftoverMs: number | null;
  /** Memory in use from `eatsAfterMs` on. */
  readonly eatsBytes: number;
  readonly eatsAfterMs: number;
  /** Files that it leaves in its directory when it ends by itself. */
  readonly outputs?: number;
  /** The solver of its batch, which the first of them on a node builds before it runs. */
  readonly build?: { readonly ms: number; readonly failsOn: readonly string[] };
  /** The program does not exist. */
  readonly isMissing: boolean;
}

export const QUIET: Plan = {
  runMs: 1000,
  code: 0,
  signal: null,
  ignoresTerm: false,
  leftovers: 0,
  leftoverMs: null,
  eatsBytes: 0,
  eatsAfterMs: 0,
  isMissing: false,
};

export function programOf(plan: Plan): Program {
  return { kind: 'argv', argv: argvOf(plan) };
}

export function argvOf(plan: Plan): string[] {
  return ['simulated', JSON.stringify(plan)];
}

/** The opposite of `programOf`, from the arguments that reached the machine. */
export function planOf(argv: readonly string[]): Plan {
  return JSON.parse(argv[1] ?? '') as Plan;
}
