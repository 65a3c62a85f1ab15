// What pools add to the machine: their noun, and workers that start again.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import { notePool } from './live.ts';
import { pools } from './pools.ts';
import { workerAgain } from './verdict.ts';

export const part: MachinePart = {
  givingIds: ['start_pool'],
  nouns: [pools],
  indexes: () => ({ pools: new Set() }),
  hooks: { onJobAdded: notePool, onJobDone: notePool, startsAgain: workerAgain },
};
