// `srun` in a script on a node of its job.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../../../src/kernel/cli/context.ts';
import { srun } from '../../../../src/wings/slurm/cli/srun.ts';

test('binding that is asked for on a node fails nothing there, and asks no head', async () => {
  const notes: string[] = [];
  const context = {
    cwd: '/',
    environment: {
      SLURM_JOB_ID: '42',
      SLURMD_NODENAME: 'n1',
      SLURM_JOB_NODELIST: 'n1',
      SLURM_NODEID: '0',
    },
    api: () => assert.fail('a head is asked'),
    note: (line: string) => notes.push(line),
    error: () => undefined,
  } as unknown as Context;
  for (const bind of ['cores', 'map_cpu:0,1', 'socket', 'none', 'verbose']) {
    const words = [`--cpu-bind=${bind}`, '--output=/dev/null', 'true'];
    assert.equal(await srun(context, words), 0);
  }
  assert.equal(notes.length, 3);
  assert.match(notes[1] ?? '', /map_cpu:0,1 is not honoured/);
});
