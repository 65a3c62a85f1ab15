// One process of a simulated machine.

import type { Plan } from './plan.ts';

export interface Exit {
  readonly code?: number;
  readonly signal?: number;
}

/** One process, from the kernel's view. Times are true time. */
export interface SimProcess {
  readonly node: string;
  readonly launchId: number;
  readonly mark: string;
  readonly variables: ReadonlyMap<string, string>;
  readonly group: string | null;
  /** Forked twice by another one: the launcher is not its parent. */
  readonly isLeftover: boolean;
  readonly plan: Plan;
  readonly startedAt: number;
  state: 'running' | 'stopped' | 'ended';
  /** Running time without stops, up to `runningSince`. */
  ranMs: number;
  runningSince: number | null;
  /**
   * Running time when the solver of its batch was there. Absent: it waits for that, or needs none.
   */
  builtAtMs?: number;
  exit: Exit | null;
}
