// What shows that somebody uses a machine, and when a node stands aside for it.

import type { Hours } from './hours.ts';

/** What a detector looks for. */
export type Wanted = 'input' | 'sessions' | 'load' | 'gpus';

/** One instant by both clocks. */
interface Instant {
  /** Wall clock, ms since 1970. */
  readonly at: number;
  readonly monotonic: number;
}

/** What a detector found at one look. `by` names the detector, for people. */
export type Sign =
  /** Keys, mice and terminals; null: no input since it looks. `what`: `keyboard on tty2`. */
  | {
      readonly kind: 'input';
      readonly by: string;
      readonly what: string;
      readonly last: Instant | null;
    }
  /** Users who are logged in: `alice on tty2`. */
  | { readonly kind: 'sessions'; readonly by: string; readonly who: readonly string[] }
  /** CPU time that programs other than tasks have used so far; only differences mean something. */
  | { readonly kind: 'load'; readonly by: string; readonly cpuMs: number }
  /** Users of the node's gpus outside of tasks: `ann on gpu 1 (python train.py)`. */
  | { readonly kind: 'gpus'; readonly by: string; readonly who: readonly string[] }
  /** The detector cannot see what it looks for, and why. */
  | {
      readonly kind: 'blind';
      readonly by: string;
      readonly of: Wanted;
      readonly why: string;
    };

/** When a node stands aside by itself: `node.yield` of its configuration. */
export interface YieldRules {
  /** Input less than this ago; null: input does not matter. */
  readonly idleBelowMs: number | null;
  /** Anybody who is logged in. */
  readonly sessions: boolean;
  /** Cpus that other programs keep busy; null: they do not matter. */
  readonly loadAbove: number | null;
  /** Anybody who uses a gpu of the node outside of tasks. Absent: they do not matter. */
  readonly gpus?: boolean;
  /** The owner's own hours; null: none. */
  readonly hours: Hours | null;
  /** The machine has not been used for that long: work goes on. */
  readonly resumeAfterMs: number;
  /** The machine has been used for that long: tasks go elsewhere; null: never. */
  readonly vacateAfterMs: number | null;
}

/** What one detector says, as people are shown it. Instants are by the node's clock. */
export interface Presence {
  readonly by: string;
  /** What it saw last, in words; with `blind`, why it cannot see. */
  readonly what: string;
  /** When that was; null: it is so now, or nothing was seen. */
  readonly at: number | null;
  readonly state: 'in_use' | 'quiet' | 'blind';
}
