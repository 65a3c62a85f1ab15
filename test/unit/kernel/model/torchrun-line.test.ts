// The port where processes of one start meet, as the agent and the line of `--torchrun` have it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { isTorchrun, meetingPort, TORCHRUN } from '../../../../src/kernel/model/torchrun-line.ts';

test('tasks of an array have ports of their own, and so have jobs next to it', () => {
  const ports = new Set<number>();
  const [jobs, tasks, epochs] = [43, 64, 4];
  for (let job = 0; job < jobs; job += 1) {
    for (let index = 0; index < tasks; index += 1) {
      for (let epoch = 1; epoch <= epochs; epoch += 1) {
        ports.add(meetingPort(1000 + job, index, epoch));
      }
    }
  }
  assert.equal(ports.size, jobs * tasks * epochs);
  assert.equal(meetingPort(1000, null, 1), meetingPort(1000, 0, 1));
  assert.ok(Math.min(...ports) >= 20_000 && Math.max(...ports) < 32_000);
});

test('the line of --torchrun comes to the same port', () => {
  const sum = /--master-port ("[^"]*")/.exec(TORCHRUN[2] ?? '')?.[1] ?? assert.fail('no port');
  const said = (of: Record<string, string>) => {
    const env = { WEFT_JOB_ID: '42', WEFT_EPOCH: '2', ...of };
    return Number(execFileSync('/bin/sh', ['-c', `echo ${sum}`], { env, encoding: 'utf8' }));
  };
  assert.equal(said({}), meetingPort(42, null, 2));
  assert.equal(said({ WEFT_ARRAY_INDEX: '63' }), meetingPort(42, 63, 2));
});

test('a line of another release is known, too, whatever its sum is', () => {
  const [shell = '', option = '', line = '', name = ''] = TORCHRUN;
  const other = line.replace(/--master-port .*/, '--master-port 1 "$@"');
  assert.equal(isTorchrun([shell, option, other, name, 'train.py']), true);
  assert.equal(isTorchrun([shell, option, 'exec torchrun', name, 'train.py']), false);
  assert.equal(isTorchrun([]), false);
});
