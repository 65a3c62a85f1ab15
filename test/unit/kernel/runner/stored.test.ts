// Epochs as journals keep them: an agent reads what one before it, with flat epochs, has written.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apply } from '../../../../src/kernel/runner/apply.ts';
import { sumOf } from '../../../../src/kernel/runner/books.ts';
import { check } from '../../../../src/kernel/runner/check.ts';
import { emptyState } from '../../../../src/kernel/runner/state.ts';
import { fromStored, type StoredEpoch } from '../../../../src/kernel/runner/stored.ts';

/**
 * Written by an agent whose epochs were flat: each phase, also stopped, being ended and never
 * launched.
 */
const OLD: readonly StoredEpoch[] = JSON.parse(
  readFileSync(new URL('old-epochs.json', import.meta.url), 'utf8'),
);

test('[S4] an epoch of an older journal is the same when it is written again', () => {
  const state = emptyState();
  const sum = { ...sumOf(state), epochs: OLD, nextLaunchId: 100 };
  apply(state, [{ kind: 'state_restored', sum }]);
  check(state);
  assert.deepEqual(JSON.parse(JSON.stringify(sumOf(state).epochs)), OLD);
  const phases = new Set(OLD.map(({ phase }) => phase));
  assert.equal(phases.size, 7, 'each phase is among them');
});

test('an epoch that says to run and has no process is refused', () => {
  const running = OLD.find(({ phase }) => phase === 'running');
  assert.ok(running);
  assert.throws(() => fromStored({ ...running, processes: [] }), /processes of epoch 3#1/);
});
