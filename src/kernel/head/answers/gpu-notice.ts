// What is said of a running task whose card is not well, or which it shares with somebody outside
// Weft.

import { formatSize } from '../../base/size.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import { withheldCards } from '../../machine/nodes/cards.ts';
import type { Node } from '../../machine/nodes/facts.ts';
import type { State } from '../../machine/state.ts';
import { cardTitle } from '../../model/gpu.ts';
import { formatEpochId } from '../../model/ids.ts';
import type { Share } from '../../model/orders.ts';

/** Returns null when it has no gpu, or all of its gpus are well and its alone. */
export function gpuNotice(state: Pick<State, 'nodes'>, task: Task): string | null {
  for (const [name, { share, state: stage }] of task.parts) {
    const node = state.nodes.get(name);
    if (node === undefined || stage === 'ended' || share.gpus.length === 0) continue;
    const card = withheldCards(node).find(({ number }) => share.gpus.includes(number));
    if (card === undefined) {
      const over = overNotice(node, formatEpochId(task.id, task.epoch), share);
      if (over !== null) return over;
      continue;
    }
    const words = `${cardTitle(card)} of ${name}, which it has, is ${card.why ?? card.state}`;
    return `${words.replace(/^g/, 'G')}. It goes on.`;
  }
  return null;
}

/** Words for whoever shares a card, before the others find no memory. */
function overNotice({ name, gpus }: Node, epochId: string, share: Share): string | null {
  for (const card of gpus?.cards ?? []) {
    const over = card.over?.find(({ task }) => task === epochId);
    if (over === undefined || !share.gpus.includes(card.number)) continue;
    const [used, own] = [over.memoryBytes, share.gpuShareBytes ?? 0].map(formatSize);
    return `It uses ${used} of ${cardTitle(card)} of ${name}, more than its share of ${own}.`;
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
