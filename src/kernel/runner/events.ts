// Facts about epochs on this node. They are journaled, and state is nothing but their sum.

import type { EpochId } from '../model/ids.ts';
import type { ExitStatus, SignalTo, Usage } from '../model/job.ts';
import type { LifeId, Stamp } from '../model/life.ts';
import type { EndReport, LaunchOrder, Report } from '../model/orders.ts';
import type { YieldPause } from '../model/pause.ts';
import type { EndingCause, Failure, Preparation } from './epoch.ts';
import type { AskedPause, Pauses } from './pause/state.ts';
import type { StoredEpoch } from './stored.ts';

export type RunnerEvent =
  | {
      readonly kind: 'epoch_accepted';
      readonly order: LaunchOrder;
      readonly waits: boolean;
      /** Monotonic: without a place by then it is given back. Absent: it has its own. */
      readonly nextUntil?: number;
    }
  /** The older epoch is gone. */
  | { readonly kind: 'epoch_unblocked'; readonly epochId: EpochId }
  /** What waited for a place has one, while the older epoch is here yet. */
  | { readonly kind: 'epoch_placed'; readonly epochId: EpochId }
  /** Written before any process is started: process `rank` has launch id `firstLaunchId + rank`. */
  | {
      readonly kind: 'epoch_launching';
      readonly epochId: EpochId;
      readonly firstLaunchId: number;
      readonly preparation: Preparation;
    }
  | {
      readonly kind: 'process_started';
      readonly epochId: EpochId;
      readonly rank: number;
      readonly at: number;
      readonly monotonic: number;
      readonly bootedAt?: number;
    }
  | {
      readonly kind: 'process_failed';
      readonly epochId: EpochId;
      readonly rank: number;
      readonly failure: Failure;
    }
  | {
      readonly kind: 'process_exited';
      readonly epochId: EpochId;
      readonly rank: number;
      readonly exit: ExitStatus;
      readonly usage: Usage;
      readonly endedAt: number;
      readonly cancelledThere?: string;
    }
  /** `found`: it stood still when the agent took it over. */
  | {
      readonly kind: 'process_stopped';
      readonly epochId: EpochId;
      readonly rank: number;
      readonly found?: true;
    }
  | { readonly kind: 'process_continued'; readonly epochId: EpochId; readonly rank: number }
  | {
      readonly kind: 'process_lost';
      readonly epochId: EpochId;
      readonly rank: number;
      readonly why?: string;
    }
  /** All processes have started: the head is told. */
  | {
      readonly kind: 'epoch_running';
      readonly epochId: EpochId;
      readonly at: number;
      /** How long before `at` they had started. Absent: at that instant. */
      readonly agoMs?: number;
    }
  /** `turn`: of the order. */
  | {
      readonly kind: 'suspend_wanted' | 'resume_wanted';
      readonly epochId: EpochId;
      readonly turn: number;
    }
  | {
      readonly kind: 'epoch_suspended';
      readonly epochId: EpochId;
      readonly at: number;
      readonly monotonic: number;
      readonly bootedAt?: number;
    }
  | {
      readonly kind: 'epoch_resumed';
      readonly epochId: EpochId;
      readonly at: number;
      readonly monotonic: number;
      readonly bootedAt?: number;
    }
  /** The shell sends it once, when this is decided; not again after a restart. */
  | {
      readonly kind: 'signal_wanted';
      readonly epochId: EpochId;
      readonly signal: number;
      readonly serial: number;
      readonly to?: SignalTo;
    }
  /** The clock of its own time limit begins, with what was over of the time for the build. */
  | {
      readonly kind: 'build_over';
      readonly epochId: EpochId;
      readonly at: number;
      readonly monotonic: number;
      /** Running time that counts as the build's. */
      readonly tookMs: number;
    }
  /** The time limit is near: as `signal_wanted`, by the order itself. */
  | {
      readonly kind: 'warning_due';
      readonly epochId: EpochId;
      readonly signal: number;
      readonly to?: SignalTo;
    }
  | {
      readonly kind: 'ending_begun';
      readonly epochId: EpochId;
      readonly cause: EndingCause;
      readonly why: string;
      readonly discards?: true;
      readonly at: number;
      readonly killAt: number;
    }
  /** A later end order allows less grace. */
  | { readonly kind: 'ending_hastened'; readonly epochId: EpochId; readonly killAt: number }
  /** KILL is due now, and again at `killAt`. */
  | { readonly kind: 'kill_due'; readonly epochId: EpochId; readonly killAt: number }
  /** A job of its site's users, with which the site goes on: nothing is done to it. */
  | { readonly kind: 'let_go'; readonly epochId: EpochId }
  | { readonly kind: 'sweep_begun'; readonly epochId: EpochId }
  /** Nothing of it lives; files that it leaves are to be kept before its end is told. */
  | {
      readonly kind: 'storing_begun';
      readonly epochId: EpochId;
      readonly at: number;
      readonly report: EndReport;
    }
  /** Files are given up at `storeUntil` (monotonic) if they are not kept by then. */
  | { readonly kind: 'storing_hastened'; readonly epochId: EpochId; readonly storeUntil: number }
  | { readonly kind: 'epoch_ended'; readonly epochId: EpochId; readonly report: EndReport }
  /** Ended before it came, or not taken: it must not start later either. */
  | {
      readonly kind: 'epoch_refused';
      readonly epochId: EpochId;
      readonly life?: LifeId;
      readonly at: number;
      readonly why?: string;
    }
  /** The head asks for what is over here: it is told once more, and nothing else happens. */
  | { readonly kind: 'end_repeated'; readonly report: EndReport }
  | { readonly kind: 'reports_acknowledged'; readonly upTo: number }
  | { readonly kind: 'epoch_released'; readonly epochId: EpochId }
  | { readonly kind: 'heard'; readonly sentAt: number }
  /** The newest that a head has said of itself; kept for a head that has lost it. */
  | { readonly kind: 'stamped'; readonly stamp: Stamp }
  | { readonly kind: 'kill_grace_set'; readonly graceMs: number }
  | { readonly kind: 'launch_ids_used'; readonly upTo: number }
  /** `why`: it is over. `serial`: of the order that asked for it. */
  | {
      readonly kind: 'pause_set';
      readonly at: number;
      readonly monotonic: number;
      readonly pause: AskedPause | null;
      readonly why?: string;
      readonly serial?: number;
    }
  | {
      readonly kind: 'yield_set';
      readonly at: number;
      readonly monotonic: number;
      readonly yielding: YieldPause | null;
    }
  /** By the monotonic clock of another boot. */
  | { readonly kind: 'pause_rebased'; readonly endsAt: number }
  /** The first record of a compacted journal: everything before it, in sum. */
  | { readonly kind: 'state_restored'; readonly sum: StateSum };

/** The state without its indices, as one value that can be written. */
export interface StateSum {
  readonly epochs: readonly StoredEpoch[];
  readonly finished: readonly EpochId[];
  /** Lives of the head that gave them, where known. Absent: written before that was kept. */
  readonly lives?: readonly (readonly [EpochId, LifeId | null])[];
  /** How the newest of them ended. Absent: written before that was kept. */
  readonly ends?: readonly (readonly [EpochId, EndReport])[];
  readonly reports: readonly (readonly [number, Report])[];
  readonly nextReport: number;
  readonly nextLaunchId: number;
  readonly heardAt: number | null;
  readonly killGraceMs: number;
  readonly pauses: Pauses;
  /** Absent: none was heard. */
  readonly stamp?: Stamp;
}
