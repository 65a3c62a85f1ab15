// What a simulated run looks at in a state that is taken for a snapshot: nothing that a long list
// holds may change after it was taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTaken } from '../../../sim/checkers/replay.ts';
import { HEAD_MACHINE } from '../../../sim/head-machine.ts';
import type { AnyNoun } from '../../../src/kernel/machine/noun.ts';
import { createState } from '../../../src/kernel/machine/nouns.ts';

const JOBS = HEAD_MACHINE.nouns.find(({ long }) => long === 'jobs') as AnyNoun;

function stateOf(jobs: () => object[]) {
  const noun: AnyNoun = { ...JOBS, save: () => ({ jobs: jobs() }) };
  return createState({ ...HEAD_MACHINE, nouns: [noun] });
}

test('[S4] a change of what was taken for a snapshot is found', () => {
  const task = { state: 'pending' };
  const state = stateOf(() => [{ id: 1, tasks: [task] }]);
  checkTaken(state);
  checkTaken(state);
  task.state = 'running';
  assert.throws(
    () => checkTaken(state),
    /a snapshot taken before differs from memory at \/0\/0\/tasks\/0\/state: "pending" in memory/,
  );
});

test('[S4] what is new since a snapshot was taken changes nothing of it', () => {
  let task = { state: 'pending' };
  const jobs: object[] = [];
  const state = stateOf(() => [...jobs, { id: 1, tasks: [task] }]);
  checkTaken(state);
  task = { state: 'running' };
  jobs.push({ id: 2, tasks: [] });
  assert.doesNotThrow(() => checkTaken(state));
});
