// Gpus that a node leaves for the owner of its machine.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutLast } from '../../../../src/kernel/agent/companions.ts';
import type { GpuCard } from '../../../../src/kernel/model/gpu.ts';
import { card } from '../../../support/nodes.ts';

const free = card(0);
const desktop = { pid: 7, user: 'gdm', program: 'Xorg', memoryBytes: 2 ** 20, since: 0 };
const used = { state: 'used_outside', users: [{ ...desktop, user: 'ann' }] } as const;
const held = { state: 'used_outside', kept: true, why: 'kept for ann' } as const;

/** `f`: free, `l`: left, `u`: used outside, `k`: kept, `i`: ill. */
function shown({ state, kept, why }: GpuCard): string {
  if (why === 'left for the owner of the machine') return kept === true ? 'l' : '?';
  if (kept === true) return 'k';
  return state.slice(0, 1);
}

for (const [title, cards, count, left] of [
  ['the last free card is left', [free, card(1), card(2)], 1, 'ffl'],
  ['a desktop on it changes nothing', [free, card(1, { users: [desktop] })], 1, 'fl'],
  ['what the owner uses counts', [free, card(1, used), card(2)], 1, 'fuf'],
  ['what the owner keeps counts', [free, card(1, held), card(2)], 2, 'fkl'],
  ['an ill card is nothing for the owner', [free, card(1), card(2, { state: 'ill' })], 1, 'fli'],
  ['fewer cards than asked for', [free, card(1, used)], 4, 'lu'],
  ['no cards at all', [], 1, ''],
] as const) {
  test(`[V27] cards for the owner: ${title}`, () => {
    const gpus = { cards, driver: null, remark: null };
    const report = withoutLast({ count: cards.length, counted: {}, gpus }, count);
    assert.equal(report.gpus.cards.map(shown).join(''), left);
  });
}
