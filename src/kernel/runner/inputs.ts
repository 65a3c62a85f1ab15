// Everything that can happen to an agent, as plain data.

import type { EpochId } from '../model/ids.ts';
import type { LifeId, Stamp } from '../model/life.ts';
import type { Order } from '../model/orders.ts';
import type { YieldPause } from '../model/pause.ts';
import type { ProcessEvent } from '../model/processes.ts';
import type { Stored } from '../model/staging.ts';
import type { Failure, Preparation } from './epoch.ts';
import type { PauseInput } from './pause/decide.ts';

/** What the launcher says of one process, and what the agent has to conclude by itself. */
export type ProcessInput =
  | ProcessEvent
  /** The process was stopped already when the agent took it over. */
  | { readonly kind: 'found_stopped'; readonly launchId: number }
  /** The launcher could not even be asked to start it. */
  | { readonly kind: 'unstartable'; readonly launchId: number; readonly why: string };

export type RunnerInput =
  | { readonly kind: 'order'; readonly order: Order }
  /** A launch order that this node cannot take now. */
  | {
      readonly kind: 'refused';
      readonly epochId: EpochId;
      readonly life?: LifeId | undefined;
      readonly why: string;
    }
  | { readonly kind: 'prepared'; readonly epochId: EpochId; readonly preparation: Preparation }
  | {
      readonly kind: 'prepare_failed';
      readonly epochId: EpochId;
      readonly failure: Failure;
      readonly cause: 'launch_failed' | 'stage_failed';
    }
  /** Accepted before, but nothing can be started here now. */
  | { readonly kind: 'given_back'; readonly epochId: EpochId; readonly why: string }
  | { readonly kind: 'process'; readonly event: ProcessInput }
  /** Seen by polling: the epoch uses more memory than its share. */
  | { readonly kind: 'memory_exceeded'; readonly epochId: EpochId }
  /** The solver of its batch is built: what runs from here on is the task's own. */
  | { readonly kind: 'built'; readonly epochId: EpochId }
  /** Nothing of the epoch is left alive. */
  | {
      readonly kind: 'swept';
      readonly epochId: EpochId;
      readonly outOfMemory: boolean;
      /** Peak of the whole group, when it was measured. */
      readonly memoryPeakBytes: number | null;
      /** Nothing was captured, and the head takes that as the end of the output. */
      readonly silent: boolean;
      /** There are files that the order may want kept. */
      readonly leaves: boolean;
    }
  /** What an ended task leaves is with the head, or cannot be. */
  | { readonly kind: 'stored'; readonly epochId: EpochId; readonly stored: Stored }
  /** All output of an ended epoch is with the head, its files are removed. */
  | { readonly kind: 'released'; readonly epochId: EpochId }
  /** The node takes no new work: what waits for a place is given back. */
  | { readonly kind: 'closed' }
  /** Time has passed. */
  | { readonly kind: 'tick' }
  /** Every report up to this serial is in the head's journal. */
  | { readonly kind: 'reports_acknowledged'; readonly upTo: number }
  /** The head has answered what was sent at this monotonic instant: a heartbeat or the hello. */
  | { readonly kind: 'heard'; readonly sentAt: number }
  /** What the head says of itself. */
  | { readonly kind: 'stamp'; readonly stamp: Stamp }
  | { readonly kind: 'kill_grace'; readonly graceMs: number }
  /** Asked for on this machine, by who may; not longer than it may be. */
  | ({ readonly kind: 'pause' } & PauseInput)
  | { readonly kind: 'unpause'; readonly by: string }
  /** Whether the machine is in use, as the agent sees it; null: it is not. */
  | { readonly kind: 'yield'; readonly yielding: YieldPause | null }
  /** The launcher knows ids up to this one, from a life that this agent has forgotten. */
  | { readonly kind: 'launch_ids_used'; readonly upTo: number };
