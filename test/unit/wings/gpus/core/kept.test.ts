// What an agent takes of the file of cards that it knew.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptIn } from '../../../../../src/wings/gpus/core/kept.ts';
import { card } from '../../../../support/nodes.ts';

const ONE = card(0, { uuid: 'GPU-aaaa-1' });
const KEEP = { uuid: 'GPU-aaaa-1', by: 'ann', since: 0, until: 1000 };

test('[V29] keeps that can be are read, and others left out', () => {
  const keeps = [
    KEEP,
    { ...KEEP, uuid: 'GPU-unknown' },
    { ...KEEP, by: '' },
    { ...KEEP, by: 'ann\u001b[2J' },
    { ...KEEP, until: '2026' },
    { ...KEEP, until: Number.MAX_VALUE },
    { ...KEEP, since: -1 },
    null,
    7,
  ];
  const kept = { bootId: 'b', cards: [ONE], keeps };
  assert.deepEqual(keptIn(JSON.parse(JSON.stringify(kept)))?.keeps, [KEEP]);
  for (const other of ['all', null, { 0: KEEP }]) {
    assert.deepEqual(keptIn({ bootId: 'b', cards: [ONE], keeps: other })?.keeps, []);
  }
  assert.deepEqual(keptIn({ bootId: 'b', cards: [ONE] })?.keeps, [], 'of an agent of before');
});

test('[V1] a file with cards that cannot be is none', () => {
  const wrong = [
    { uuid: '' },
    { uuid: 'x\n' },
    { name: undefined },
    { type: 5 },
    { memoryBytes: -1 },
    { index: '0' },
    { label: 'a'.repeat(300) },
  ].map((part) => ({ bootId: 'b', cards: [{ ...ONE, ...part }] }));
  const many = { bootId: 'b', cards: Array.from({ length: 100_000 }, () => ONE) };
  for (const value of [...wrong, many, null, 3, [], { cards: [] }, { bootId: 'b', cards: 'all' }])
    assert.equal(keptIn(value), null, JSON.stringify(value).slice(0, 200));
  assert.deepEqual(keptIn({ bootId: 'b', cards: [ONE] })?.cards, [ONE]);
});
