// The lives of a head: each start of it begins one. A head that was put back from an older copy
// gives numbers out again, and which life gave a number tells the two apart. Nodes keep what a head
// said of itself last, so that one that has lost records learns of it.

import type { Brand } from '../base/brand.ts';
import type { GivenNumbers } from './loss.ts';

/** `3.81fa0c2e`: the number of the life, and a word drawn at its begin that no copy has. */
export type LifeId = Brand<string, 'LifeId'>;

/** One life, as the head's own records have it. */
export interface Life {
  readonly id: LifeId;
  /** Number of its first record at the earliest: from there on, lives before it wrote none. */
  readonly from: number;
  /** Instant of the last event before it; absent: there was none, or it is older than this. */
  readonly after?: number;
}

/** How far a head had come when it said so. */
export interface Standing {
  readonly life: LifeId;
  /** Number of its last record. */
  readonly seq: number;
  readonly given: GivenNumbers;
}

/** What a node is told with orders and acknowledgements, and says back when it connects. */
export interface Stamp extends Standing {
  /** Names the cluster: a stamp of another one is worth nothing here. */
  readonly cluster: string;
  /** Only a head of this cluster can make it: a node cannot claim what no head has said. */
  readonly proof: string;
}

/** More than a head forgets: older ones count as known. */
export const LIVES_KEPT_MAX = 1_000;
/** Numbers that are passed over where records were lost: starts in them have had some. */
export const LIVES_SKIPPED = 1_000;

export function lifeId(number: number, nonce: string): LifeId {
  return `${number}.${nonce}` as LifeId;
}

export function numberOf(life: LifeId): number {
  return Number.parseInt(life, 10);
}

/** Whether it is worth keeping in place of the one that was kept. */
export function isNewer(stamp: Stamp, known: Stamp | null): boolean {
  if (known === null || stamp.cluster !== known.cluster) return true;
  const later = numberOf(stamp.life) - numberOf(known.life);
  return later === 0 ? stamp.seq > known.seq : later > 0;
}
