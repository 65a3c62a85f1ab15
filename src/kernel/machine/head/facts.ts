// What the head knows of itself.

import type { ClockReading, ClockStep } from '../../model/clock.ts';
import type { Life } from '../../model/life.ts';
import type { GivenNumbers, LostRecords } from '../../model/loss.ts';

export interface HeadFacts {
  /** The largest epoch that any task has had. */
  epochMax: number;
  /** Epochs up to this one may have been given out in records that are lost. */
  epochFloor: number;
  /** Oldest first. */
  readonly losses: LostRecords[];
  /** Fingerprint of the head's certificate; null while it never listened on a port. */
  identity: string | null;
  /** Oldest first, the last one is now; empty until a head has started that counts them. */
  readonly lives: Life[];
  /** Lives up to this number that are not among `lives` wrote what was accepted as lost. */
  livesLost: number;
  /** The wall clock as it was read last beside one that nobody sets; null: never. */
  clock: ClockReading | null;
  /** When it was set, the last times, oldest first. */
  clockSteps: readonly ClockStep[];
  /** Instant of the last event, by the clock of then; null: there was none. */
  lastAt: number | null;
  /** Records are missing that nodes know of, and nobody has accepted that yet; null: none are. */
  behind: Behind | null;
  /** The last time that its store was copied to where it is; null: it never was. */
  copied: CopiedStore | null;
}

/** A store that was put back, or moved, by copying its files. */
export interface CopiedStore {
  /** When the head found that, ms since 1970. */
  readonly at: number;
  /** Jobs with these ids, up to the one below, may have been accepted after the copy was made. */
  readonly jobIdFrom: number;
  /** The id with which the head goes on. */
  readonly nextJobId: number;
}

/** What nodes have heard of this head, or of a copy of it, and its store does not have. */
export interface Behind {
  /** Ms since 1970. */
  readonly since: number;
  /** Number of the last record that this store has in common with what they heard of. */
  readonly lastSeq: number;
  /** Number of the last that they heard of. */
  readonly promisedSeq: number;
  /** Number of the newest life that they heard of. */
  readonly life: number;
  readonly given: GivenNumbers;
  /** The first nodes that reported records which the head lacks. */
  readonly nodes: readonly string[];
}
