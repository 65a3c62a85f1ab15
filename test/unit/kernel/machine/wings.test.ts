// The machine put together from parts: what two of them have in common is a mistake, not a choice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine, createState } from '../../../../src/kernel/machine/nouns.ts';
import type { MachinePart } from '../../../../src/kernel/machine/part.ts';

const noun = (command: string): NonNullable<MachinePart['nouns']>[number] => ({
  commands: { [command]: () => undefined },
  events: {},
  facts: () => ({}),
  save: () => ({}),
  load: () => undefined,
});

test('a machine without wings has the state of the kernel', () => {
  const state = createState(createMachine([]));
  assert.equal(state.jobs.size, 0);
  assert.deepEqual(state.machine.hooks.afterJob, []);
});

test('a command of two parts, or of a part and the kernel, is refused by name', () => {
  const two = [{ nouns: [noun('paint')] }, { nouns: [noun('paint')] }];
  assert.throws(() => createMachine(two), /only one wing, or the kernel, has 'paint'/);
  assert.throws(() => createMachine([{ nouns: [noun('submit_job')] }]), /has 'submit_job'/);
  assert.doesNotThrow(() => createMachine([{ nouns: [noun('paint')] }]));
});
