// What is known of the cards of a machine, and what a look and a site's rules are.

import type { CardState, CardUser } from '../../../kernel/model/gpu.ts';
import type { Answer, ProcessOwner, SeenCard } from '../model/answer.ts';

/** What a site says of when a card may be given. */
export interface CardRules {
  /**
   * Programs outside of tasks that have less of a card's memory, and do not work, leave it free.
   */
  readonly outsideBytesMin: number;
  /** A card is given again when it has been well and unused for that long. */
  readonly freeAfterMs: number;
}

export interface Instant {
  /** Wall clock, ms since 1970. */
  readonly at: number;
  readonly monotonic: number;
}

/** A task, and what it has been given. */
export interface Holder {
  readonly task: string;
  /** Uuids of its cards, and of those that they are parts of. */
  readonly cards: ReadonlySet<string>;
}

/** One look at the machine. */
export interface Look {
  readonly answers: readonly Answer[];
  /** Whose the processes on cards are; those that cannot be seen are missing. */
  readonly owners: ReadonlyMap<number, ProcessOwner>;
  /** Uuids of cards that tasks of this machine have. */
  readonly given: ReadonlySet<string>;
  /** The tasks of this program's nodes by the marks of their processes. */
  readonly holders: ReadonlyMap<string, Holder>;
  /** The agent sees other numbers of processes than the driver. */
  readonly isContained: boolean;
  readonly now: Instant;
}

export interface Tracked {
  readonly seen: SeenCard;
  readonly state: CardState;
  /** Why it is in this state; null: it is free. */
  readonly because: string | null;
  readonly since: number;
  /** Since when nothing keeps it from being given any more; null: something does, or it is free. */
  readonly wellSince: Instant | null;
  readonly crowd: Crowd;
  /** Memory that tasks have of it, by the marks of their processes. */
  readonly ours: ReadonlyMap<string, number>;
  /** Looks in a row that did not list it. */
  readonly missing: number;
  /**
   * When its tool told of it last, by the monotonic clock; null: not since the agent was started.
   */
  readonly readAt: number | null;
  /** Known from before the machine was started: it may have been taken out. */
  readonly isOld: boolean;
}

/** What is known of one maker's tools. */
export interface Maker {
  readonly driver: string | null;
  /** When they answered last; null: never. */
  readonly answeredAt: number | null;
  /** How many other things there are, by kind. */
  readonly counted: Readonly<Record<string, number>>;
  /** What an administrator might change about them. */
  readonly notes?: readonly string[];
  /** What people should know of the last look; null: nothing. */
  readonly remark: string | null;
}

export interface Machine {
  readonly cards: ReadonlyMap<string, Tracked>;
  readonly makers: ReadonlyMap<string, Maker>;
}

/** Processes on a card beside those of tasks. */
export interface Crowd {
  /** Those that are of no task, the largest first. */
  readonly users: readonly CardUser[];
  /** All pids of the last look. */
  readonly pids: ReadonlySet<number>;
  /** Looks in a row in which its users kept it busy. */
  readonly busyLooks: number;
  /** Looks in a row in which memory was in use and nobody could be seen. */
  readonly heldLooks: number;
  /** Why it may not be given for this, in words; null: it may. */
  readonly closes: string | null;
}
