// The files of tasks: brought to this node before they start, and kept by the head after they end.
// Both are done again from the beginning by an agent that was killed meanwhile.

import type { Result } from '../base/result.ts';
import type { LaunchOrder } from '../model/orders.ts';
import type { Stored } from '../model/staging.ts';
import type { Owner } from './files.ts';

/** Why a task cannot have its files here. */
export interface StagingFailure {
  readonly detail: string;
  /** Trying elsewhere can help. */
  readonly nodeFault: boolean;
}

export interface Staging {
  /**
   * Lays the files that the order names out in `directory`, which is made anew: all of them, each
   * as it was sent, or none. Owned by `owner`; null = the agent's own user.
   */
  bring(
    order: LaunchOrder,
    into: { readonly directory: string; readonly owner: Owner | null },
    signal: AbortSignal,
  ): Promise<Result<null, StagingFailure>>;
  /**
   * Keeps what the order wants of what is in `directory`, files of `uid` only (null = anybody's).
   * Resolves when the head has it for good, or cannot have it: then with why, in words.
   */
  store(
    order: LaunchOrder,
    from: { readonly directory: string; readonly uid: number | null },
    signal: AbortSignal,
  ): Promise<Result<Stored, string>>;
}
