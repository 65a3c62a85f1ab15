// How many gpus a machine has when a cluster is made on it: stand-ins print what a scenario says.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { detectMachine } from '../../src/kernel/os/detect.ts';

const TOOLS = path.join(import.meta.dirname, '..', 'support', 'gpu');

test('[V1] gpus of all makers are counted, of one that is cut its slices', async (t) => {
  const { PATH } = process.env;
  t.after(() => {
    process.env['PATH'] = PATH;
    delete process.env['FAKE_GPUS'];
  });
  process.env['PATH'] = `${path.join(TOOLS, 'bin')}:${PATH}`;
  for (const [scenario, count] of [
    ['workstation', 3],
    ['slices', 3],
    ['two-makers', 2],
    ['lost', 2],
    ['mismatch', 0],
    ['garbage', 0],
  ] as const) {
    process.env['FAKE_GPUS'] = path.join(TOOLS, 'scenarios', `${scenario}.json`);
    const { gpuCount, labels } = await detectMachine();
    assert.deepEqual([gpuCount, labels.includes('gpu')], [count, count > 0], scenario);
  }
});
