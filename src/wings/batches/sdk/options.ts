// What can be said of the submission of a batch.

import type { KnownOptions } from '../../../kernel/sdk/known-options.ts';

/** How a batch is submitted. */
export interface BatchOptions {
  /**
   * What becomes of a batch that has this name: `new`, the default, refuses it; `resume` runs what
   * did not complete; `new_version` begins beside it, as `name@2`.
   */
  readonly mode?: 'new' | 'resume' | 'new_version';
  /** Where relative paths of a definition begin. Default: where this program runs. */
  readonly folder?: string;
  /** Ends the submission, not the batch. */
  readonly signal?: AbortSignal;
}

export const BATCH_OPTIONS: KnownOptions<BatchOptions> = { mode: true, folder: true, signal: true };
