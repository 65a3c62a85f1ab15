// `srun` in a script on a node of its job.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Context } from '../../../../src/kernel/cli/context.ts';
import { srun } from '../../../../src/wings/slurm/cli/srun.ts';

/** On `n1`, the only node of its job. */
function onNode(cwd: string, more: Readonly<Record<string, string>> = {}) {
  const notes: string[] = [];
  const context = {
    cwd,
    environment: {
      PATH: process.env['PATH'],
      SLURM_JOB_ID: '42',
      SLURMD_NODENAME: 'n1',
      SLURM_JOB_NODELIST: 'n1',
      SLURM_NODEID: '0',
      ...more,
    },
    api: () => assert.fail('a head is asked'),
    note: (line: string) => notes.push(line),
    error: () => undefined,
  } as unknown as Context;
  return { context, notes };
}

test('binding that is asked for on a node fails nothing there, and asks no head', async () => {
  const { context, notes } = onNode('/');
  for (const bind of ['cores', 'map_cpu:0,1', 'socket', 'none', 'verbose']) {
    const words = [`--cpu-bind=${bind}`, '--output=/dev/null', 'true'];
    assert.equal(await srun(context, words), 0);
  }
  assert.equal(notes.length, 3);
  assert.match(notes[1] ?? '', /map_cpu:0,1 is not honoured/);
});

test('[X1] ranks with one file overwrite nothing of each other', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { context } = onNode(folder, { SLURM_NTASKS_PER_NODE: '4', SLURM_CPUS_ON_NODE: '4' });
  const program = ['sh', '-c', 'for at in 1 2 3; do echo $SLURM_PROCID; done; echo e >&2'];
  const lines = () => readFileSync(path.join(folder, 'out'), 'utf8').trim().split('\n').sort();
  const all = ['0', '0', '0', '1', '1', '1', '2', '2', '2', '3', '3', '3', 'e', 'e', 'e', 'e'];
  for (const words of [
    ['-n4', '--output=out'],
    ['-n4', '--output=out', '--error=out'],
  ]) {
    assert.equal(await srun(context, [...words, ...program]), 0);
    assert.deepEqual(lines(), all);
  }
  assert.equal(await srun(context, ['--open-mode=append', '-n1', '-oout', 'echo', 'x']), 0);
  assert.equal(lines().length, all.length + 1);
});
