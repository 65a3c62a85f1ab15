// Cards that the owner of a machine keeps for a while: no new task is given them.

import { formatInstant } from '../../../kernel/base/instant.ts';
import { cardLabel, type GpuCard } from '../../../kernel/model/gpu.ts';
import type { Keep } from '../model/keep.ts';

/** Those that are not over. */
export function keepsAt(keeps: readonly Keep[], at: number): readonly Keep[] {
  return keeps.every(({ until }) => until > at) ? keeps : keeps.filter(({ until }) => until > at);
}

/** What else keeps the card from being given says more. */
export function withKeep(card: GpuCard, keeps: readonly Keep[]): GpuCard {
  const keep = keeps.find(({ uuid }) => uuid === card.uuid);
  if (keep === undefined || card.state !== 'free') return card;
  const why = `kept for ${keep.by} until ${formatInstant(keep.until)}`;
  return { ...card, state: 'used_outside', why, kept: true, since: keep.since };
}

/** By what people call it, or by the beginning of its uuid; undefined: there is no such card. */
export function cardNamed(cards: readonly GpuCard[], name: string): GpuCard | undefined {
  const byLabel = cards.find((card) => cardLabel(card) === name);
  if (byLabel !== undefined || name.length < UUID_LETTERS_MIN) return byLabel;
  const byUuid = cards.filter(({ uuid }) => uuid.toLowerCase().startsWith(name.toLowerCase()));
  return byUuid.length === 1 ? byUuid[0] : undefined;
}

const UUID_LETTERS_MIN = 6;
