// A task whose nodes owe the head a word for longer than that takes as a rule: on whom it waits,
// and since when.

import type { NodeName, TaskId } from '../../model/ids.ts';
import { LONG_WAIT_MS } from '../../model/limits.ts';
import type { Settings } from '../../model/settings.ts';
import type { Task } from '../jobs/facts.ts';
import { siteOf } from '../nodes/members.ts';
import type { State } from '../state.ts';
import { shownState } from '../tasks/shown-state.ts';

export interface HeldUp {
  readonly kind: 'starting' | 'staging_in' | 'staging_out' | 'completing' | 'behind';
  readonly task: TaskId;
  readonly since: number;
  /** Those that have not said it. */
  readonly nodes: readonly NodeName[];
  /** The site that runs it; null: machines of ours do. */
  readonly site: string | null;
}

/** Returns null when it is as it should be, or has not been so for long. */
export function heldUp(state: State, settings: Settings, task: Task, now: number): HeldUp | null {
  const kind = kindOf(task);
  const { waitsSince: since } = task;
  if (kind === null || since === null) return null;
  const isFirst = kind === 'starting' || kind === 'staging_in';
  const parts = [...task.parts.values()].filter(({ state }) => {
    return isFirst ? state === 'ordered' : state !== 'ended';
  });
  const nodes = parts.map(({ share }) => share.node);
  const of = { task: task.id, since, nodes, site: siteOf(state, task) };
  if (isFirst && state.behind !== null) return { kind: 'behind', ...of };
  const graceMs = kind === 'completing' ? settings.killGraceMs : 0;
  return now - since < LONG_WAIT_MS + graceMs ? null : { kind, ...of };
}

/** What waits in the queue of a site is pending. */
function kindOf(task: Task): Exclude<HeldUp['kind'], 'behind'> | null {
  const shown = shownState(task);
  switch (shown) {
    case 'starting':
    case 'staging_in':
    case 'staging_out':
    case 'completing':
      return shown;
    default:
      return null;
  }
}
