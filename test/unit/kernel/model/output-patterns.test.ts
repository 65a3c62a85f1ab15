// Output files of arrays: one for each task, but for devices.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { separateFiles } from '../../../../src/kernel/model/output-patterns.ts';

test('tasks of an array share a device, and no file, in memory or elsewhere', () => {
  const separated = (stdout: string) => separateFiles({ stdout }).stdout;
  assert.equal(separated('/dev/null'), '/dev/null');
  assert.equal(separated('/dev/shm/out'), '/dev/shm/out.%a');
  assert.equal(separated('out'), 'out.%a');
  assert.equal(separated('out-%a'), 'out-%a');
});
