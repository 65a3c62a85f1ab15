// What the machine's tables of types get from this wing.

import type { Declares } from '../../../kernel/machine/declared.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { PoolCommand, PoolEvent } from './pool.ts';

declare module '../../../kernel/machine/declared.ts' {
  interface Declared {
    /** Pools have no facts of their own: their jobs have them. */
    readonly pools: Declares<PoolCommand, PoolEvent, object>;
  }
}

declare module '../../../kernel/machine/indexes.ts' {
  interface Indexes {
    /** Pools that live. */
    readonly pools: Set<Job>;
  }
}
