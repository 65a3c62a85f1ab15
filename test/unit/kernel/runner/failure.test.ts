// Whose fault a failed start was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatErrno } from '../../../../src/kernel/runner/errno.ts';
import { describeFailure } from '../../../../src/kernel/runner/failure.ts';
import { launch, shell } from '../agent/orders.ts';

const ENOENT = 2;
const E2BIG = 7;
const ENOSPC = 28;
const EAGAIN = 11;

for (const [stage, errno, nodeFault] of [
  ['exec', ENOENT, false],
  ['exec', E2BIG, false],
  ['fork', E2BIG, false],
  ['fork', EAGAIN, true],
  ['cgroup', ENOENT, true],
  ['stdout', ENOSPC, true],
] as const) {
  const whose = nodeFault ? "the node's" : "the job's";
  test(`a start that fails at ${stage} with error ${errno} is ${whose} fault`, () => {
    const failure = describeFailure(launch(1, shell('x')), null, { stage, errno });
    assert.equal(failure.nodeFault, nodeFault);
  });
}

test("an output file that the job named is the job's own", () => {
  const order = launch(1, shell('x'), { files: { stdout: '/full/out' } });
  const failed = (stage: string) => describeFailure(order, null, { stage, errno: ENOSPC });
  assert.deepEqual([failed('stdout').nodeFault, failed('stderr').nodeFault], [false, true]);
});

test('what may keep a process from starting is said in words, not as a number', () => {
  const said = [6, 16, 30, 38, 95, 113].map(formatErrno);
  for (const text of said) assert.match(text, /^[A-Z][\w/ -]+ \(E[A-Z]+\)$/);
  assert.equal(said[0], 'No such device or address (ENXIO)');
});
