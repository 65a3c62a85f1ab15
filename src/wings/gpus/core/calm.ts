// What is worth telling the head: each change of a card costs a record, and memory changes all the
// time.

import { isSame } from '../../../kernel/base/same.ts';
import type { GpuCard } from '../../../kernel/model/gpu.ts';

/** A change of memory by less than this part of it is none. */
const PART_MIN = 0.25;

/** The card as it was told before where only amounts of memory differ, and not by much. */
export function calmed(before: GpuCard | undefined, card: GpuCard): GpuCard {
  if (before === undefined || before.users.length !== card.users.length) return card;
  const isClose = card.users.every((user, at) => {
    const known = before.users[at];
    return known?.pid === user.pid && isNear(known.memoryBytes, user.memoryBytes);
  });
  if (!isClose) return card;
  const settled = { ...card, users: before.users };
  const isStill =
    card.state === before.state && withoutSizes(card.why) === withoutSizes(before.why);
  return isStill && isSame({ ...settled, why: before.why }, before) ? before : settled;
}

export function isNear(before: number | null, now: number | null): boolean {
  if (before === null || now === null) return before === now;
  return Math.abs(before - now) < PART_MIN * Math.max(before, now);
}

function withoutSizes(words: string | null): string | null {
  return words?.replaceAll(/\b\d+(\.\d+)?[KMGT]?i?B?\b/g, '#') ?? null;
}
