// What the cards of a node mean for what it can give: those that are used outside, ill or gone it
// cannot.

import { cardTitle, type GpuCard } from '../../model/gpu.ts';
import type { Resources } from '../../model/resources.ts';
import type { Node } from './facts.ts';

/** Cards that no task may be given now. What a task has of them it keeps. */
export function withheldCards({ gpus, total }: Pick<Node, 'gpus' | 'total'>): readonly GpuCard[] {
  if (gpus === null) return [];
  return gpus.cards.filter(({ state, number }) => state !== 'free' && number < total.gpuCount);
}

/** What may be given of the node: of its gpus only those that are whole and unused. */
export function freeOf({ free, gpusFree }: Pick<Node, 'free' | 'gpusFree'>): Resources {
  if (free.gpuCount <= gpusFree.size) return free;
  return { ...free, gpuCount: gpusFree.size };
}

/** Each withheld card with the reason, for people. */
export function withheldWords(node: Pick<Node, 'gpus' | 'total'>): string[] {
  return withheldCards(node).map((card) => `${cardTitle(card)} is ${card.why ?? card.state}`);
}
