// The lives of a head: each start of it begins one. A head that was put back from an older copy
// gives numbers out again; which life gave a number tells the two apart.

import type { Brand } from '../base/brand.ts';

/** `3.k81fa0c2`: the number of the life, and a word drawn at its begin that no copy has. */
export type LifeId = Brand<string, 'LifeId'>;
