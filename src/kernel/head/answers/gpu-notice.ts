// What is said of a running task whose card is not well, or which it shares with somebody outside
// Weft, and of one that uses a card without having it.

import { formatSize } from '../../base/size.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import { withheldCards } from '../../machine/nodes/cards.ts';
import type { Node } from '../../machine/nodes/facts.ts';
import type { State } from '../../machine/state.ts';
import { cardTitle, type GpuCard, type NodeGpus } from '../../model/gpu.ts';
import { formatEpochId } from '../../model/ids.ts';
import type { Share } from '../../model/orders.ts';

/** Returns null when it uses no gpu but its own, and all of these are well and its alone. */
export function gpuNotice(state: Pick<State, 'nodes'>, task: Task): string | null {
  for (const [name, { share, state: stage }] of task.parts) {
    const node = state.nodes.get(name);
    if (node === undefined || stage === 'ended') continue;
    const stray = strayNotice(node, task);
    if (stray !== null) return stray;
    if (share.gpus.length === 0) continue;
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

/** Made when cards are told: lists of jobs ask for it of each task. */
const STRAYS = new WeakMap<NodeGpus, ReadonlyMap<string, GpuCard>>();

function strayNotice({ name, gpus }: Node, task: Task): string | null {
  if (gpus === null) return null;
  const strays = STRAYS.get(gpus) ?? straysOn(gpus);
  STRAYS.set(gpus, strays);
  const card = strays.size === 0 ? undefined : strays.get(formatEpochId(task.id, task.epoch));
  if (card === undefined) return null;
  return `It uses ${cardTitle(card)} of ${name}, which it has not been given; ask for gpus with --gpus.`;
}

/** Tasks that use a card which they have not been given, with the first of these. */
function straysOn({ cards }: NodeGpus): ReadonlyMap<string, GpuCard> {
  const users = cards.flatMap((card) => card.users.map(({ task }) => ({ task, card })));
  const found = new Map<string, GpuCard>();
  for (const { task, card } of users) {
    if (task !== undefined && !found.has(task)) found.set(task, card);
  }
  return found;
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

export function gpuNoticeOfJob(state: Pick<State, 'nodes'>, job: Job): string | null {
  for (const task of job.active.values()) {
    const notice = gpuNotice(state, task);
    if (notice !== null) return notice;
  }
  return null;
}
