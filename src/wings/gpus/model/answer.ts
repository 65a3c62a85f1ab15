// What the tools of drivers say of the cards of a machine, whoever made them.

import type { Device } from '../../../kernel/model/device.ts';
import type { SlowedBy } from '../../../kernel/model/gpu.ts';

/** One card, or a part of one that is given like a card. */
export interface SeenCard {
  readonly vendor: string;
  readonly uuid: string;
  readonly busId: string;
  /** The machine's number of it; null: it gives it none. */
  readonly index: number | null;
  readonly name: string;
  readonly type: string;
  readonly memoryBytes: number | null;
  readonly memoryUsedBytes: number | null;
  /** Share of time in which it worked, 0 to 100; null: not known. */
  readonly busyPercent: number | null;
  readonly watts?: number;
  /** Temperature of the chip. */
  readonly celsius?: number;
  /** What keeps it slow; null: nothing. Absent: its tool does not say. */
  readonly slowedBy?: SlowedBy | null;
  /** Errors of its memory that it has corrected since its driver was loaded. Absent: not known. */
  readonly correctedErrors?: number;
  /** Why it should get no new work, in the driver's words; empty: it is well. */
  readonly ills: readonly string[];
  readonly numaNode?: number;
  /** Uuid of the first of the cards that it is joined with by NVLink. */
  readonly linkedWith?: string;
  /** Uuid of the card that it is a part of. */
  readonly partOf?: string;
  /** Numbers of the maker's tools and libraries for it, where uuids are not taken. */
  readonly ordinal?: string;
  /** The driver's number of the part (MIG's gpu instance). */
  readonly instance?: number;
  /** Files by which programs open it, where no driver tells them. */
  readonly files?: readonly string[];
  /** What these are; absent: not known. Several cards may have one in common. */
  readonly devices?: readonly Device[];
}

/** A process on a card. */
export interface SeenProcess {
  /** The card's uuid; null: on some card, nobody says which. */
  readonly card: string | null;
  readonly pid: number;
  readonly program: string;
  readonly memoryBytes: number | null;
}

/** A card that the tool knows to be there and cannot reach. */
export interface LostCard {
  readonly busId: string;
  readonly words: string;
}

/** One look at all cards of one maker. */
export type Answer =
  | {
      readonly kind: 'answered';
      readonly vendor: string;
      readonly driver: string | null;
      readonly cards: readonly SeenCard[];
      readonly lost: readonly LostCard[];
      readonly processes: readonly SeenProcess[];
      /** How many there are of other things, by kind. */
      readonly counted?: Readonly<Record<string, number>>;
      /** What an administrator might change about them. Absent: nothing is known. */
      readonly notes?: readonly string[];
      /** What to know of this look; null: nothing. */
      readonly remark: string | null;
    }
  /** The driver does not work, which is true of all its cards. */
  | { readonly kind: 'failed'; readonly vendor: string; readonly words: string }
  /** The tool hangs or cannot be understood: nothing is known anew. */
  | { readonly kind: 'silent'; readonly vendor: string; readonly words: string };

/** Whose a process is. */
export interface ProcessOwner {
  readonly user: string;
  /** By descent or by its group it is of a task of this agent, or of the agent itself. */
  readonly isOurs: boolean;
  /**
   * By which its task is found, of this agent's own marks: whether there is such a task it does not
   * say. Absent: it has none.
   */
  readonly mark?: string;
}
