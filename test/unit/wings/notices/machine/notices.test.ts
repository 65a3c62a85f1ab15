// The notice: who may set it, what is refused, and when it is over.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from '../../../../../src/kernel/machine/declared.ts';
import { isShown } from '../../../../../src/wings/notices/machine/notices.ts';
import { ANN, kinds, OPERATOR, START_AT, scenario } from '../../../../support/controller.ts';

const set = (more: { from?: number; until?: number; text?: string } = {}): Command => ({
  kind: 'set_notice',
  text: 'disk is full',
  from: null,
  until: null,
  ...more,
});
const CLEAR: Command = { kind: 'clear_notice' };

scenario('operators set, replace and clear the notice', (head) => {
  assert.deepEqual(head.command(CLEAR, OPERATOR), { kind: 'changed', count: 0 });
  head.command(set(), OPERATOR);
  head.command(set({ text: 'disk is mended', until: START_AT + 5000 }), OPERATOR);
  head.crash();
  assert.deepEqual(head.state.notice, {
    text: 'disk is mended',
    from: null,
    until: START_AT + 5000,
    by: 'olga',
    at: START_AT,
  });
  assert.deepEqual(head.command(CLEAR, OPERATOR), { kind: 'changed', count: 1 });
  assert.equal(head.state.notice, null);
});

scenario('users read notices only, and a notice that nobody would see is refused', (head) => {
  assert.equal(head.refused(set(), ANN), 'auth.role_needed');
  assert.equal(head.refused(CLEAR, ANN), 'auth.role_needed');
  assert.equal(head.refused(set({ until: START_AT }), OPERATOR), 'argument.invalid');
  const backwards = set({ from: START_AT + 2000, until: START_AT + 1000 });
  assert.equal(head.refused(backwards, OPERATOR), 'argument.invalid');
});

scenario('a notice whose time is over is cleared', (head) => {
  head.command(set({ from: START_AT + 1000, until: START_AT + 5000 }), OPERATOR);
  assert.deepEqual(head.tick(4999), []);
  assert.deepEqual(kinds(head.tick(1)), ['notice_cleared']);
  assert.equal(head.state.notice, null);
});

test('a notice is shown from its beginning until its end', () => {
  const shown = (from: number | null, until: number | null) => isShown({ from, until }, 10);
  assert.deepEqual([shown(null, null), shown(10, 11), shown(null, 11)], [true, true, true]);
  assert.deepEqual([shown(11, null), shown(null, 10)], [false, false]);
});
