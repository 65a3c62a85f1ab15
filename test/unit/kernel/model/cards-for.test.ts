// Cards by type, memory and share: known choices on known nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CardRequest,
  type CardRoom,
  cardsFor,
  isOfType,
} from '../../../../src/kernel/model/cards-for.ts';

const GIB = 2 ** 30;

function room(number: number, type: string, gib: number, more: Partial<CardRoom> = {}): CardRoom {
  const memoryBytes = gib * GIB;
  return {
    number,
    type,
    memoryBytes,
    freeBytes: memoryBytes,
    isIdle: true,
    isSlice: false,
    numaNode: null,
    ...more,
  };
}

/** Somebody has a share of so many GiB of it. */
const shared = (card: CardRoom, gib: number): CardRoom => ({
  ...card,
  isIdle: false,
  freeBytes: (card.freeBytes ?? 0) - gib * GIB,
});

function ask(count: number, more: Partial<CardRequest> = {}): CardRequest {
  return { count, types: null, memoryBytesMin: null, shareBytes: null, ...more };
}

const MIXED = [
  room(0, 'a100-80g', 80),
  room(1, 'rtx3090', 24),
  room(2, 'a100-40g', 40),
  room(3, 'rtx3090', 24),
];

/** Each: what is asked for, on which cards, and what is given. */
const CHOICES: readonly (readonly [CardRequest, readonly CardRoom[], number[] | null])[] = [
  [ask(1), MIXED, [1]],
  [ask(2), MIXED, [1, 3]],
  [ask(3), MIXED, [1, 2, 3]],
  [ask(5), MIXED, null],
  [ask(1, { types: ['a100'] }), MIXED, [2]],
  [ask(1, { types: ['a100-80g'] }), MIXED, [0]],
  [ask(2, { types: ['a100'] }), MIXED, [0, 2]],
  [ask(1, { types: ['h100', 'rtx3090'] }), MIXED, [1]],
  [ask(1, { types: ['h100'] }), MIXED, null],
  [ask(1, { memoryBytesMin: 20 * GIB }), MIXED, [1]],
  [ask(1, { memoryBytesMin: 30 * GIB }), MIXED, [2]],
  [ask(1, { memoryBytesMin: 60 * GIB }), MIXED, [0]],
  [ask(2, { memoryBytesMin: 60 * GIB }), MIXED, null],
  // A card whose memory nobody knows meets no wish for it.
  [ask(1, { memoryBytesMin: GIB }), [{ ...room(0, 'b60', 0), memoryBytes: null }], null],
  // What others have is not given whole.
  [ask(1), [shared(room(0, 'l40s', 48), 8), room(1, 'l40s', 48)], [1]],
  // Shares fill what is shared already, and the fullest card of those first.
  [ask(1, { shareBytes: 8 * GIB }), [room(0, 'l40s', 48), shared(room(1, 'l40s', 48), 8)], [1]],
  [
    ask(1, { shareBytes: 8 * GIB }),
    [shared(room(0, 'l40s', 48), 8), shared(room(1, 'l40s', 48), 30)],
    [1],
  ],
  [ask(1, { shareBytes: 8 * GIB }), [shared(room(0, 'l40s', 48), 42), room(1, 'l40s', 48)], [1]],
  [ask(1, { shareBytes: 8 * GIB }), [shared(room(0, 'l40s', 48), 42)], null],
  // Slices before whole cards.
  [ask(1), [room(0, 'a100-80g', 80), room(1, 'a100-1g.10g', 10, { isSlice: true })], [1]],
  [
    ask(1, { memoryBytesMin: 20 * GIB }),
    [room(0, 'a100-80g', 80), room(1, 'a100-1g.10g', 10, { isSlice: true })],
    [0],
  ],
];

test('[A4] the least cards that do are given, and none that somebody has', () => {
  for (const [request, cards, expected] of CHOICES) {
    assert.deepEqual(cardsFor(request, cards), expected, JSON.stringify({ request, cards }));
  }
});

test('cards near each other are given together, from where the fewest are to spare', () => {
  const at = (...nodes: readonly number[]): CardRoom[] =>
    nodes.map((numaNode, number) => room(number, 'h100-80g', 80, { numaNode }));
  assert.deepEqual(cardsFor(ask(2), at(0, 1, 1, 0)), [0, 3]);
  assert.deepEqual(cardsFor(ask(2), at(0, 1, 1)), [1, 2]);
  assert.deepEqual(cardsFor(ask(2), at(0, 0, 0, 1, 1)), [3, 4]);
  assert.deepEqual(cardsFor(ask(3), at(0, 0, 1, 1)), [0, 1, 2], 'no memory has three');
});

test('[V23] cards that are joined are given together, and of these those near each other', () => {
  const pairs = (...groups: readonly string[]): CardRoom[] =>
    groups.map((group, number) => {
      const more = group === '-' ? {} : { linkedWith: group };
      return room(number, 'h100-80g', 80, { numaNode: number % 2, ...more });
    });
  assert.deepEqual(cardsFor(ask(2), pairs('a', 'b', 'b', 'a')), [0, 3]);
  assert.deepEqual(cardsFor(ask(2), pairs('-', 'b', '-', 'a', 'b')), [1, 4]);
  assert.deepEqual(cardsFor(ask(2), pairs('a', 'a', 'a', 'a')), [0, 2], 'of all that are joined');
  assert.deepEqual(cardsFor(ask(2), pairs('a', 'a', 'a', 'b', 'b')), [3, 4], 'the fewest to spare');
  assert.deepEqual(
    cardsFor(ask(3), pairs('a', 'b', 'a', 'b', '-')),
    [0, 2, 4],
    'no group has three',
  );
});

test('a type means all its variants, and no other type that begins alike', () => {
  assert.equal(isOfType('a100-80g', 'a100'), true);
  assert.equal(isOfType('a1000', 'a100'), false);
  assert.equal(isOfType('a100-1g.10g', 'a100-1g.10g'), true);
  assert.equal(isOfType('a100-1g.10g', 'a100'), false, 'a slice is no card');
  assert.equal(isOfType('rtx4090laptop', 'rtx4090'), false);
});
