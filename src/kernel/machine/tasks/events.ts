// What happens to tasks, and to their parts on nodes.

import type { EpochId, NodeName, TaskPlace } from '../../model/ids.ts';
import type { Outcome, SignalTo, Stopper, Usage } from '../../model/job.ts';
import type { EndCause, ProcessEnd, Share } from '../../model/orders.ts';
import type { EndThere } from '../../model/processes.ts';
import type { Stored } from '../../model/staging.ts';

export type TaskEvent =
  /** By the crash limit. */
  | { readonly kind: 'task_held'; readonly place: TaskPlace; readonly because: string }
  | {
      readonly kind: 'task_allocated';
      readonly place: TaskPlace;
      readonly epoch: number;
      /** In node rank order. */
      readonly shares: readonly Share[];
      /**
       * Set where it holds nothing yet: it is to have a place that a task of its job gives up
       * there.
       */
      readonly next?: true;
    }
  /** What was next on the node has a place there: it holds its share from now on. */
  | {
      readonly kind: 'part_placed';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** The node gave it the place, and has begun it. Absent: the node is to be told. */
      readonly begun?: true;
    }
  /** What is next on the node is wanted back, unless the node has begun it by then. */
  | { readonly kind: 'part_recalled'; readonly epochId: EpochId; readonly node: NodeName }
  /** A task that was next on a node, and has not begun there, waits in the queue again. */
  | { readonly kind: 'task_returned'; readonly place: TaskPlace }
  /** The node no longer holds the part, and is asked how it ended. */
  | { readonly kind: 'part_asked'; readonly epochId: EpochId; readonly node: NodeName }
  /** With its last part the task is running. */
  | {
      readonly kind: 'part_started';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** By the node's own clock, where that is not the time of the record. */
      readonly nodeAt?: number;
      /** By the head's clock, where that was before the record. Absent: the time of the record. */
      readonly startedAt?: number;
    }
  | {
      readonly kind: 'suspend_asked';
      readonly place: TaskPlace;
      readonly by: string;
      /** Only when it makes room: it gives its cpus up until there is room again. In words, why. */
      readonly because?: string;
      /** Whose stop it is. */
      readonly stopper: Stopper;
    }
  | {
      readonly kind: 'resume_asked';
      readonly place: TaskPlace;
      readonly by: string;
      /** Whose stop is taken away. */
      readonly stopper: Stopper;
      /** Others have stopped it at its site: no stop of ours is taken away. */
      readonly isOthers?: true;
    }
  | {
      readonly kind: 'part_suspended';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** Turn of the report. */
      readonly turn: number;
      /**
       * Ms since 1970, by the head's clock as the node measured it: when it stopped or went on.
       */
      readonly since: number;
    }
  | {
      readonly kind: 'part_resumed';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** The same as in `part_suspended`. */
      readonly turn: number;
      readonly since: number;
    }
  /** The node has heard newer orders to stop and go than the head has records of. */
  | {
      readonly kind: 'part_turns_heard';
      readonly epochId: EpochId;
      readonly node: NodeName;
      readonly turn: number;
    }
  | {
      readonly kind: 'end_asked';
      readonly place: TaskPlace;
      readonly why: 'cancel' | 'requeue' | 'sibling';
      readonly by: string;
      /** In words for the outcome, when it is nobody's wish: it makes room. */
      readonly because?: string;
      /** With `requeue`: when it waits again it is held. */
      readonly holds?: true;
      /** With `cancel`: it was for a pool that is closed, and has completed. */
      readonly closes?: true;
      /** With `cancel`: its files are being kept, and that has the kill grace to end. */
      readonly hastens?: true;
      /** With `hastens`: nobody waits for them any more. */
      readonly discards?: true;
      /** With `sibling`: how the task will end. */
      readonly outcome?: Outcome;
    }
  /** The solver of its batch is there: from here on its own time counts. */
  | {
      readonly kind: 'part_built';
      readonly epochId: EpochId;
      readonly node: NodeName;
      readonly tookMs: number;
    }
  /** The processes of the part are gone, and what it leaves is being kept. */
  | {
      readonly kind: 'part_storing';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** Ms since 1970, by the head's clock as the node measured it. */
      readonly since: number;
    }
  | {
      readonly kind: 'part_ended';
      readonly epochId: EpochId;
      readonly node: NodeName;
      /** By the head's clock, when the report came late. Missing: the time of the record. */
      readonly endedAt?: number;
      readonly cause: EndCause;
      readonly nodeFault: boolean;
      readonly processes: readonly ProcessEnd[];
      readonly usage: Usage;
      readonly detail?: string;
      readonly there?: EndThere;
      readonly stored?: Stored;
    }
  /** An epoch nobody waits for any more is known to be gone from a node: its claim goes. */
  | { readonly kind: 'claim_dropped'; readonly epochId: EpochId; readonly node: NodeName }
  /**
   * Back to the queue; `abandoned`: nodes where the old epoch may still run and keeps its claim.
   */
  | {
      readonly kind: 'task_requeued';
      readonly place: TaskPlace;
      readonly because: string;
      /** How the epoch would have ended the task. */
      readonly outcome: Outcome;
      readonly counts: 'failure' | 'crash' | 'neither' | 'anew';
      readonly abandoned: readonly NodeName[];
    }
  | {
      readonly kind: 'task_done';
      readonly place: TaskPlace;
      readonly outcome: Outcome;
      readonly abandoned: readonly NodeName[];
    }
  | {
      readonly kind: 'signal_asked';
      readonly place: TaskPlace;
      readonly signal: number;
      readonly to?: SignalTo;
      readonly by: string;
    };
