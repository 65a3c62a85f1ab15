// What becomes of a started process, as its node tells it: the launcher, the agent's decisions and
// the simulator speak of it in these words.

import type { ExitStatus, Usage } from './job.ts';

/** Where a start failed; `lease`: it was over before the start. */
export type LaunchStage =
  | 'fork'
  | 'cgroup'
  | 'limits'
  | 'credentials'
  | 'chdir'
  | 'stdin'
  | 'stdout'
  | 'stderr'
  | 'exec'
  | 'lease';

/**
 * What others made of it at its site. `refused`: the site would not have it, or has it no more
 * though it never began. `cancelled`: its owner or an operator ended it there. `untaken`: the site
 * was told to start it, did not, and has it waiting as before.
 */
export type EndThere = 'refused' | 'cancelled' | 'untaken';

/** What the launcher says of one process. */
export type ProcessEvent =
  /** `agoMs`: so long ago, where that is heard late. Absent: now. */
  | { readonly kind: 'started'; readonly launchId: number; readonly agoMs?: number }
  | {
      readonly kind: 'failed';
      readonly launchId: number;
      readonly errno: number;
      readonly stage: LaunchStage;
    }
  | {
      readonly kind: 'exited';
      readonly launchId: number;
      readonly exit: ExitStatus;
      readonly usage: Usage;
      readonly endedAt: number;
      /** The launcher ended it, as its lease was over while no agent renewed it. */
      readonly leaseOver: boolean;
      /**
       * The words with which an owner or operator ended the process at its site. Absent: nobody
       * did, as far as is known.
       */
      readonly cancelledThere?: string;
    }
  /** Nothing of it has run, as the site says, or its gateway where nothing is said of the site. */
  | {
      readonly kind: 'refused';
      readonly launchId: number;
      readonly why: string;
      readonly there?: EndThere;
    }
  /** Nobody can say how it ended. `why`: what its site says of it; absent: nobody says anything. */
  | { readonly kind: 'lost'; readonly launchId: number; readonly why?: string }
  | { readonly kind: 'stopped'; readonly launchId: number }
  | { readonly kind: 'continued'; readonly launchId: number };

/** What the launcher knows of one process when an agent comes (back) to it. */
export interface KnownProcess {
  readonly launchId: number;
  readonly state: 'launching' | 'running' | 'stopped' | 'ended';
  /** A user gave it to a site itself, so that it is not ours to end. Absent: it is ours. */
  readonly isForeign?: true;
  /** When it started, by its machine's or site's clock. Absent: it has not, or nobody says. */
  readonly startedAt?: number;
  /** Present once ended: the event that says how. */
  readonly end?: Extract<ProcessEvent, { kind: 'exited' | 'failed' | 'refused' }>;
}
