// Everything the head knows, in memory. Only `apply` changes it; a restart builds it again from
// the same events.

import type { Facts } from './declared.ts';
import type { Indexes } from './indexes.ts';
import type { Scratch } from './scratch.ts';

/** The facts, which are journalled, and beside them what a restart builds again or does without. */
export interface State extends Facts {
  readonly indexes: Indexes;
  readonly scratch: Scratch;
}
