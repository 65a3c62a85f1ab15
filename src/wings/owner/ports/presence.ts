// Who uses this machine, as its detectors see it.

import type { Sign, Wanted } from '../../../kernel/model/presence.ts';

export type { Sign, Wanted };

export interface OwnerPresence {
  /**
   * What is seen now of what is wanted, cheap enough for every few seconds. Never throws: what
   * cannot be seen is a sign too.
   */
  look(wanted: ReadonlySet<Wanted>): readonly Sign[];
  close(): void;
}
