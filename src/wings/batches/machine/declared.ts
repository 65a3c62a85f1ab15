// What the machine's tables of types get from this wing.

import type { Declares } from '../../../kernel/machine/declared.ts';
import type { BatchCommand } from './commands.ts';
import type { BatchEvent } from './events.ts';
import type { Batch, BatchesFacts } from './facts.ts';

declare module '../../../kernel/machine/declared.ts' {
  interface Declared {
    readonly batches: Declares<BatchCommand, BatchEvent, BatchesFacts>;
  }
}

declare module '../../../kernel/machine/jobs/facts.ts' {
  interface Job {
    /** The batch that it is a part of; absent also when that was removed. */
    batch?: Batch;
  }
}
