// What a node may say of steps: those of tasks that it runs.

import type { State } from '../../../kernel/machine/state.ts';
import { formatEpochId, type NodeName, parseTaskId } from '../../../kernel/model/ids.ts';
import type { Trust } from '../core/book.ts';
import { parseStepId, type StepName } from '../core/ids.ts';
import type { ToldProcess } from '../core/told.ts';

/** A live step is heard of only while its task is there; how one ended may be told later. */
export function mayTell(state: Pick<State, 'jobs'>, node: NodeName, told: ToldProcess): Trust {
  const name = parseStepId(told.step);
  const place = parseTaskId(name.ok ? name.value.task : '');
  if (!name.ok || !place.ok) return 'no';
  const { jobId, index } = place.value;
  const task = state.jobs.get(jobId)?.active.get(index ?? 0);
  if (task === undefined) return told.end !== null && isEpochOf(name.value, told) ? 'unsure' : 'no';
  // Of a task that runs, or is to run again, nobody else says anything.
  if (formatEpochId(task.id, task.epoch) !== told.epochId) return 'no';
  const part = task.parts.get(node);
  return part !== undefined && (told.end !== null || part.state !== 'ended') ? 'sure' : 'no';
}

function isEpochOf({ task }: StepName, { epochId }: ToldProcess): boolean {
  return epochId.startsWith(`${task}#`) && /^\d{1,9}$/.test(epochId.slice(task.length + 1));
}
