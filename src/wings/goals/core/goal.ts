// Goal state: what nodes are to be like, what brings them there, and how many may be taken out of
// service for it at once.

import type { RunningPolicy } from '../../../kernel/model/maintenance.ts';

/** What the head knows of a node without asking it. */
export const GOAL_FACTS = [
  ...(['kernel', 'os', 'arch', 'agent', 'launcher', 'limits', 'network'] as const),
  ...(['cpus', 'memory', 'disk', 'fault', 'gpus', 'gpu_driver', 'gpu_fault'] as const),
] as const;

export type GoalFact = (typeof GOAL_FACTS)[number];

/** Texts and numbers; null: nobody knows. `fault` and `gpu_fault` are `none` without one. */
export type Facts = Readonly<Record<GoalFact, string | number | null>>;

export type GoalTest =
  /** `*` in the text stands for anything. */
  | { readonly kind: 'fact'; readonly fact: GoalFact; readonly is: string }
  | { readonly kind: 'fact'; readonly fact: GoalFact; readonly atLeast: number }
  /** A shell line on the node; null: exit code 0 is enough, whatever it says. */
  | { readonly kind: 'check'; readonly line: string; readonly expect: string | null };

export interface Goal {
  readonly name: string;
  readonly test: GoalTest;
  /** A shell line that brings the node there; null: only a person can. */
  readonly repair: string | null;
}

export interface GoalClass {
  readonly name: string;
  /** Null: all that meet the labels. */
  readonly nodes: readonly string[] | null;
  readonly labels: readonly string[];
  /** Nodes of a partition that may be in repair at once. */
  readonly atOnce: number;
  /** The slot of a repair begins within this time, and lasts so long. */
  readonly withinMs: number;
  readonly durationMs: number;
  /** What becomes of tasks that still run then. */
  readonly running: RunningPolicy;
  /** The repair restarts the node. */
  readonly restarts: boolean;
  readonly goals: readonly Goal[];
}

/** One goal that a node does not meet. */
export interface Difference {
  readonly goal: string;
  /** What the node is like, in words. */
  readonly actual: string;
  readonly expected: string;
  /** Whether a program can mend it. */
  readonly canRepair: boolean;
}

export function describeDifference({ goal, actual, expected }: Difference): string {
  return `${goal} is ${actual}, expected ${expected}`;
}
