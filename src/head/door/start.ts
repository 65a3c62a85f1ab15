// A start that an external scheduler decides, whichever way it asks.

import { err, ok, type Result } from '../../core/base/result.ts';
import type { UserActor } from '../../core/model/actor.ts';
import { type Refusal, refuse } from '../../core/model/errors.ts';
import { formatTaskId, type NodeName, type TaskPlace } from '../../core/model/ids.ts';
import { sayReason } from '../answers/words/reason.ts';
import type { Engine } from '../engine.ts';

/** How many tasks it started: none where it runs there already. */
export async function startTask(
  engine: Pick<Engine, 'execute' | 'now'>,
  { place, nodes }: { readonly place: TaskPlace; readonly nodes: readonly NodeName[] },
  actor: UserActor,
): Promise<Result<number, Refusal>> {
  const reply = await engine.execute({ kind: 'start_task', place, nodes }, actor);
  if (!reply.ok) return reply;
  if (reply.value.kind === 'changed') return ok(reply.value.count);
  if (reply.value.kind !== 'not_started') throw new Error(`start_task answers ${reply.value.kind}`);
  const why = sayReason(reply.value.reason, { name: null, now: engine.now() });
  const job = formatTaskId(place.jobId, place.index);
  return err(refuse('start.refused', { job, nodes: nodes.join(', '), why }));
}
