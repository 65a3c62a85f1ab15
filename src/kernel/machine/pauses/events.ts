// What happens about pauses of nodes.

import type { NodeName } from '../../model/ids.ts';
import type { Pause, PauseOrder } from '../../model/pause.ts';

/** A pause in the words of the node's agent. */
interface PauseTold {
  readonly node: NodeName;
  /** Turn of its report. */
  readonly turn: number;
  /** Serial of the newest wish that it had heard. */
  readonly orderHeard: number;
}

export type PauseEvent =
  /** Also when the pause that is under way changes. */
  | (PauseTold & { readonly kind: 'node_paused'; readonly pause: Pause })
  /** `since`: by the node's clock. */
  | (PauseTold & { readonly kind: 'node_unpaused'; readonly why: string; readonly since: number })
  | {
      readonly kind: 'node_pause_asked';
      readonly node: NodeName;
      readonly order: PauseOrder;
      readonly until: number;
    }
  /** The node did not hear of it in its time. */
  | { readonly kind: 'node_pause_forgotten'; readonly node: NodeName };
