// What the head knows of itself.

import type { LostRecords } from '../../model/loss.ts';

export interface HeadFacts {
  /** The largest epoch that any task has had. */
  epochMax: number;
  /** Epochs up to this one may have been given out in records that are lost. */
  epochFloor: number;
  /** Oldest first. */
  readonly losses: LostRecords[];
  /** Fingerprint of the head's certificate; null while it never listened on a port. */
  identity: string | null;
}
