// Which node of a task cannot be heard or is paused, since when, and what comes next.

import type { JobSpec } from '../../model/job.ts';
import type { Pause } from '../../model/pause.ts';
import type { Task } from '../jobs/facts.ts';
import { lossRuleOf } from '../nodes/loss-rule.ts';
import type { State } from '../state.ts';

export type Silence = { readonly node: string } & (
  | { readonly kind: 'paused'; readonly pause: Pause }
  /** Null: not heard of since the head started. */
  | { readonly kind: 'silent'; readonly since: number | null }
  /** `spec`: what the job wants to become of it. */
  | {
      readonly kind: 'unreachable';
      readonly since: number;
      readonly spec: Pick<JobSpec, 'requeue' | 'onNodeLoss'>;
      /** Whatever becomes of the node: it does not go on. */
      readonly isCancelled: boolean;
    }
);

/** Null while all nodes of the task are connected and none is paused. */
export function silenceOf(state: State, task: Task): Silence | null {
  for (const [name, part] of task.parts) {
    if (part.state === 'ended') continue;
    const node = state.nodes.get(name);
    if (node === undefined) continue;
    const { connected, unreachableSince, lastSeenAt, pausing } = node;
    if (!connected && unreachableSince === null) {
      return { kind: 'silent', node: name, since: lastSeenAt };
    }
    if (!connected && unreachableSince !== null) {
      const { spec } = task.job;
      const rule = { requeue: spec.requeue, onNodeLoss: lossRuleOf(node, spec) };
      const isCancelled = task.ending?.kind === 'cancel';
      const told = { node: name, since: unreachableSince, spec: rule, isCancelled };
      return { kind: 'unreachable', ...told };
    }
    if (pausing.now !== null) return { kind: 'paused', node: name, pause: pausing.now };
  }
  return null;
}
