// Cards of a node, for people.

import type { CardView, NodeView } from '../../api/nodes.ts';
import { formatSize } from '../../base/size.ts';
import { fenceWords } from '../../model/device.ts';
import { shortUuid } from '../../model/gpu.ts';
import type { Titled } from '../output/one.ts';

/** A line for each card, and what there is to know of all. */
export function cardLines({ gpus = null }: Pick<NodeView, 'gpus'>): Titled[] {
  if (gpus === null) return [];
  return [
    ...gpus.cards.map((card): Titled => [`Gpu ${card.label}`, cardLine(card)]),
    ['Gpu links', linkWords(gpus.cards)],
    ['Gpu driver', gpus.driver ?? ''],
    ['Gpu tools', gpus.remark ?? ''],
    ['Gpu notes', (gpus.notes ?? []).join('; ')],
    ['Gpu fence', gpus.fence === undefined ? '' : fenceWords(gpus.fence)],
  ];
}

/** `0, 1; 2, 3`; empty: none are joined. */
function linkWords(cards: readonly CardView[]): string {
  const linked = cards.filter(({ linkedWith }) => linkedWith !== undefined);
  const groups = [...Map.groupBy(linked, ({ linkedWith }) => linkedWith).values()];
  const joined = groups.filter(({ length }) => length > 1);
  return joined.map((group) => group.map(({ label }) => label).join(', ')).join('; ');
}

/** `rtx4090 24G GPU-1a2b3c4d: given to 42#1`. */
function cardLine({ type, memoryBytes, uuid, state, why, tasks, over = [] }: CardView): string {
  const size = memoryBytes === null ? [] : [formatSize(memoryBytes)];
  const given = tasks.length === 0 ? [] : [`given to ${tasks.join(', ')}`];
  const more = over.map(({ task, memoryBytes: used }) => {
    return `${task} uses ${formatSize(used)} of it, more than its share`;
  });
  const words = [...(why === null ? [] : [why]), ...given, ...more];
  const what = [type, ...size, shortUuid(uuid)].join(' ');
  return `${what}: ${words.length === 0 ? state : words.join('; ')}`;
}

/** What a listing remarks of cards that may not be given; empty: all may. */
export function cardRemark({ gpus = null }: Pick<NodeView, 'gpus'>): string {
  const [first, ...more] = (gpus?.cards ?? []).filter(({ why }) => why !== null);
  if (first === undefined) return '';
  const others = more.length === 0 ? '' : `; ${more.length} more may not be given`;
  return `gpu ${first.label} ${first.why}${others}`;
}
