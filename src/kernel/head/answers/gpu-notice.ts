// What is said of a running task whose card is not well, or which it shares with somebody outside
// Weft.

import type { Job, Task } from '../../machine/jobs/facts.ts';
import { withheldCards } from '../../machine/nodes/cards.ts';
import type { State } from '../../machine/state.ts';
import { cardTitle } from '../../model/gpu.ts';

/** Returns null when it has no gpu, or all of its gpus are well and its alone. */
export function gpuNotice(state: Pick<State, 'nodes'>, task: Task): string | null {
  for (const [name, { share, state: stage }] of task.parts) {
    const node = state.nodes.get(name);
    if (node === undefined || stage === 'ended' || share.gpus.length === 0) continue;
    const card = withheldCards(node).find(({ number }) => share.gpus.includes(number));
    if (card === undefined) continue;
    const words = `${cardTitle(card)} of ${name}, which it has, is ${card.why ?? card.state}`;
    return `${words.replace(/^g/, 'G')}. It goes on.`;
  }
  return null;
}

/** Looks at no task of a job without gpus: an array may have very many. */
export function gpuNoticeOfJob(state: Pick<State, 'nodes'>, job: Job): string | null {
  if (job.spec.request.perNode.gpuCount === 0) return null;
  for (const task of job.active.values()) {
    const notice = gpuNotice(state, task);
    if (notice !== null) return notice;
  }
  return null;
}
