// A start that an external scheduler decides, whichever way it asks.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { sayReason } from '../../../kernel/head/answers/words/reason.ts';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { UserActor } from '../../../kernel/model/actor.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import { formatTaskId, type NodeName, type TaskPlace } from '../../../kernel/model/ids.ts';
import type { Reason } from '../../../kernel/model/reason.ts';

export interface WantedStart {
  readonly place: TaskPlace;
  readonly nodes: readonly NodeName[];
}

/** `reason`: what keeps the task from starting; null: the start could never be. */
export interface NotStarted {
  readonly refusal: Refusal;
  readonly reason: Reason['kind'] | null;
}

/** How many tasks it started: none where it runs there already. */
export async function startTask(
  engine: Pick<Engine, 'execute' | 'now'>,
  { place, nodes }: WantedStart,
  actor: UserActor,
): Promise<Result<number, NotStarted>> {
  const reply = await engine.execute({ kind: 'start_task', place, nodes }, actor);
  if (!reply.ok) return err({ refusal: reply.error, reason: null });
  if (reply.value.kind === 'changed') return ok(reply.value.count);
  if (reply.value.kind !== 'not_started') throw new Error(`start_task answers ${reply.value.kind}`);
  const { reason } = reply.value;
  const why = sayReason(reason, { name: null, now: engine.now() });
  const job = formatTaskId(place.jobId, place.index);
  const refusal = refuse('start.refused', { job, nodes: nodes.join(', '), why });
  return err({ refusal, reason: reason.kind });
}
