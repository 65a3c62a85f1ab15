// What is said of rules for idle gpus that are of no partition.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import { settingsNotes } from '../../../../src/wings/samples/head/settings-notes.ts';

test('[V31] a rule for idle gpus of a partition that there is not is told', () => {
  const rule = { belowPercent: 5, forMs: 1, holdAfterMs: null, endAfterMs: null };
  const of = (...names: string[]) => {
    const gpuIdle = Object.fromEntries(names.map((name) => [name, rule]));
    return settingsNotes({ scheduling: plainScheduling('fifo'), gpuIdle } as never);
  };
  const words = 'gpu_idle names the partition defualt, which there is not; there is default';
  assert.deepEqual(of('default', 'defualt'), [words]);
  assert.deepEqual(of('default'), []);
});
