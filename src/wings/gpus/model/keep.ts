// A card that the owner of a machine keeps for a while, and what an agent knows of its cards when
// it starts again.

import type { GpuCard } from '../../../kernel/model/gpu.ts';

export interface Keep {
  readonly uuid: string;
  /** Login name. */
  readonly by: string;
  /** Since when and until when, by the node's clock. */
  readonly since: number;
  readonly until: number;
}

export interface Kept {
  /** The boot in which they were seen. */
  readonly bootId: string;
  /** By their numbers. */
  readonly cards: readonly GpuCard[];
  /** Cards that the machine's owner keeps. Absent: none. */
  readonly keeps?: readonly Keep[];
}
