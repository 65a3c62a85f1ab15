// What the owner of a machine says of it, in a file of the owner's.

import type { YieldRules } from '../../../kernel/model/presence.ts';

export interface OwnerRules {
  /** Login names; null: everybody's jobs. */
  readonly users: readonly string[] | null;
  readonly cpuCount: number;
  readonly gpuCount: number;
  /** When the machine stands aside, in the place of what the configuration says. */
  readonly yield: Partial<OwnerYield>;
}

/** The hours as they were written. */
export interface OwnerYield extends Pick<YieldRules, 'idleBelowMs' | 'sessions' | 'loadAbove'> {
  readonly hours: string | null;
}

/** What the file says; both null: there is none. */
export interface OwnerFile {
  readonly rules: OwnerRules | null;
  /** Why it cannot be followed, in words. */
  readonly problem: string | null;
}
