// What an agent finds in its folder of the cards that it knew: a file that half was written to, or
// that somebody has changed, must not make it tell the head of what cannot be.

import { isWhole } from '../../../kernel/base/whole.ts';
import type { GpuCard } from '../../../kernel/model/gpu.ts';
import { CARDS_PER_NODE_MAX, MEMORY_PER_NODE_MAX } from '../../../kernel/model/limits.ts';
import type { Keep, Kept } from '../model/keep.ts';

const TEXT_LENGTH_MAX = 200;
const NUMBER_MAX = 100_000;
const INSTANT_MAX = Number.MAX_SAFE_INTEGER;

/** Null: somebody else's file. Of keeps those are left out that cannot be. */
export function keptIn(value: unknown): Kept | null {
  const { bootId, cards, keeps = [] } = (value ?? {}) as Record<keyof Kept, unknown>;
  if (typeof bootId !== 'string' || !Array.isArray(cards)) return null;
  if (cards.length > CARDS_PER_NODE_MAX || !cards.every(isCard)) return null;
  const known = new Set(cards.map(({ uuid }) => uuid));
  const sound = Array.isArray(keeps) ? keeps.filter(isKeep) : [];
  return { bootId, cards, keeps: sound.filter(({ uuid }) => known.has(uuid)) };
}

function isCard(value: unknown): value is GpuCard {
  const one = (value ?? {}) as Record<keyof GpuCard, unknown>;
  return (
    [one.uuid, one.vendor].every(isName) &&
    [one.name, one.type, one.busId].every(isText) &&
    [one.label, one.linkedWith, one.partOf].every((text) => text === undefined || isName(text)) &&
    (one.index === null || isWhole(one.index, 0, NUMBER_MAX)) &&
    (one.memoryBytes === null || isWhole(one.memoryBytes, 0, MEMORY_PER_NODE_MAX)) &&
    (one.numaNode === undefined || isWhole(one.numaNode, 0, NUMBER_MAX))
  );
}

function isKeep(value: unknown): value is Keep {
  const { uuid, by, since, until } = (value ?? {}) as Record<keyof Keep, unknown>;
  const areTimes = [since, until].every((time) => isWhole(time, 0, INSTANT_MAX));
  return isName(uuid) && isName(by) && areTimes;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_LENGTH_MAX;
}

function isName(value: unknown): value is string {
  return isText(value) && value !== '' && /^[\x20-\x7e]+$/.test(value);
}
