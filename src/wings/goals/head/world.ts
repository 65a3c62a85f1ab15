// What the cycle that repairs is made with: its goals, and all that is around it.

import type { Engine } from '../../../kernel/head/engine.ts';
import type { LogFiles } from '../../../kernel/head/logs/log-files.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { GoalClass } from '../core/goal.ts';
import type { GoalSourceState } from './source.ts';

export interface GoalOptions {
  readonly classes: readonly GoalClass[];
  /** Between two looks at a node. */
  readonly everyMs: number;
  /** False: repairs are only asked for by people. */
  readonly repairs: boolean;
  /** The address that they are from; absent: they are from none. */
  readonly url?: string;
  /** The file that they are from; absent: they are from none. */
  readonly file?: string;
}

export interface GoalPorts {
  readonly engine: Engine;
  readonly logs: Pick<LogFiles, 'read' | 'status'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** How the address that they are from fares, or an unreadable file; null or absent: well. */
  readonly source?: () => GoalSourceState | null;
}
