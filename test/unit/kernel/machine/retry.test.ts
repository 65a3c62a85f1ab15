// Running again what did not complete of a job that is over, as a new job.

import assert from 'node:assert/strict';
import type { RetryJob } from '../../../../src/kernel/machine/jobs/commands.ts';
import { outstanding } from '../../../../src/kernel/machine/outstanding.ts';
import type { Actor } from '../../../../src/kernel/model/actor.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import type { Code } from '../../../../src/kernel/model/errors.ts';
import type { JobId } from '../../../../src/kernel/model/ids.ts';
import type { Dependency } from '../../../../src/kernel/model/job.ts';
import { ANN, BOB, OPERATOR, scenario, type TestHead } from '../../../support/controller.ts';

interface How {
  readonly key?: string | null;
  readonly dependencies?: readonly Dependency[] | null;
  readonly all?: boolean;
  readonly inputs?: BlobHash;
  readonly indices?: string;
}

function command(id: number, how: How = {}): RetryJob {
  const { key = null, dependencies = null, all = false, inputs, indices } = how;
  const named = indices === undefined ? {} : { indices };
  const sent = inputs === undefined ? named : { ...named, inputs };
  return { kind: 'retry_job', jobId: id as JobId, key, retired: {}, dependencies, all, ...sent };
}

function retry(head: TestHead, id: number, how: How = {}, by: Actor = ANN): JobId {
  const reply = head.command(command(id, how), by);
  assert.equal(reply.kind, 'submitted');
  return (reply as { jobId: JobId }).jobId;
}

const refused = (head: TestHead, id: number, by: Actor = ANN): Code => {
  return head.refused(command(id), by);
};

scenario('[J27] a retry of all holds every index, also of a job that completed', (head) => {
  head.connect('n1', { cpus: 9 });
  const id = head.submit({ array: { indices: '1-2' } });
  head.schedule();
  assert.equal(head.refused(command(id, { all: true }), ANN), 'job.not_done');
  for (const index of [1, 2]) head.ended(`${id}[${index}]#1`, { code: 0 });
  assert.equal(refused(head, id), 'job.nothing_to_retry');
  assert.equal(head.refused(command(id, { all: true }), BOB), 'auth.not_owner');
  const again = retry(head, id, { all: true });
  assert.deepEqual([head.job(again).spec.array?.indices, again !== id], ['1-2', true]);
});

scenario(
  '[J27] a retry holds the indices that did not complete, at their place in the array',
  (head) => {
    head.connect('n1', { cpus: 9 });
    const id = head.submit({ array: { indices: '1-4,9' }, name: 'fit', environment: { A: '1' } });
    head.schedule();
    assert.equal(refused(head, id), 'job.not_done');
    for (const [index, code] of [
      [1, 0],
      [2, 3],
      [3, 0],
      [4, 0],
    ] as const) {
      head.ended(`${id}[${index}]#1`, { code });
    }
    head.ended(`${id}[9]#1`, { cause: 'timeout' });
    const again = retry(head, id);
    const { spec } = head.job(again);
    assert.deepEqual([spec.array?.indices, spec.retry?.of, spec.name], ['2,9', id, 'fit']);
    assert.deepEqual(spec.environment, { A: '1' });
    assert.deepEqual(head.schedule(), [`${again}[2]#1@n1`, `${again}[9]#1@n1`]);
    const launch = outstanding(head.state, head.node('n1'), head.settings)[0];
    const whole = { first: 1, last: 9, count: 5 };
    assert.deepEqual(launch?.kind === 'launch' && launch.array, whole, 'as its tasks knew it');
    head.ended(`${again}[2]#1`);
    head.ended(`${again}[9]#1`, { code: 1 });
    const third = retry(head, again);
    assert.deepEqual(head.job(third).spec.retry, { of: again, array: whole });
    assert.equal(head.job(id).outcome?.kind, 'failed', 'done is final');
  },
);

scenario('[J27] a retry of named tasks holds these alone, if all of them can run again', (head) => {
  head.connect('n1', { cpus: 9 });
  const id = head.submit({ array: { indices: '1-4,9' } });
  head.schedule();
  for (const index of [1, 3, 4, 9]) head.ended(`${id}[${index}]#1`, { code: 1 });
  head.ended(`${id}[2]#1`, { code: 0 });
  const again = retry(head, id, { indices: '9,3' });
  assert.equal(head.job(again).spec.array?.indices, '3,9');
  assert.equal(head.refused(command(id, { indices: '2,3' }), ANN), 'argument.invalid');
  assert.equal(head.job(retry(head, id, { indices: '2,3', all: true })).taskCount, 2);
  assert.equal(head.refused(command(id, { indices: '3,5' }), ANN), 'job.not_found');
  const plain = head.submit();
  head.schedule();
  head.ended(`${plain}#1`, { code: 1 });
  assert.equal(head.refused(command(plain, { indices: '0' }), ANN), 'job.not_found');
});

scenario('[J27] only the owner retries, once for a key, and only what failed', (head) => {
  head.connect('n1');
  const id = head.submit({ beginAt: head.at, walltimeMs: 5000 });
  head.schedule();
  head.ended(`${id}#1`, { code: 1 });
  assert.equal(refused(head, id, BOB), 'auth.not_owner');
  assert.equal(refused(head, id, OPERATOR), 'auth.not_owner', 'it would run as the operator');
  assert.equal(refused(head, 99), 'job.not_found');
  const again = retry(head, id, { key: 'k' });
  assert.equal(retry(head, id, { key: 'k' }), again);
  const { spec } = head.job(again);
  assert.deepEqual([spec.array, spec.walltimeMs, spec.beginAt], [null, 5000, null]);
  head.schedule();
  head.ended(`${again}#1`);
  assert.equal(refused(head, again), 'job.nothing_to_retry');
});

scenario('[J27] dependencies that were met stay met, a broken one is to be named anew', (head) => {
  head.connect('n1');
  const first = head.submit();
  const onOk = { jobId: first, condition: 'ok' } as const;
  const second = head.submit({ dependencies: [onOk] });
  head.schedule();
  head.ended(`${first}#1`, { code: 1 });
  assert.equal(head.outcome(second), 'cancelled');
  assert.equal(refused(head, second), 'job.dependency_broken');
  const firstAgain = retry(head, first);
  const dependencies = [{ jobId: firstAgain, condition: 'ok' as const }];
  const secondAgain = retry(head, second, { dependencies });
  assert.deepEqual([...head.job(secondAgain).waitsFor], [firstAgain]);
  assert.equal(head.job(retry(head, second, { dependencies: [] })).waitsFor.size, 0);
  head.command({ kind: 'cancel_task', place: { jobId: 5 as JobId, index: null } }, ANN);
  head.schedule();
  head.ended(`${firstAgain}#1`);
  head.schedule();
  head.ended(`${secondAgain}#1`, { code: 2 });
  assert.equal(head.job(retry(head, secondAgain)).waitsFor.size, 0);
});

scenario('[J27] a retry of an MPI job is one, with as many ranks and a key', (head) => {
  head.connect('n1');
  const id = head.submit({ mpi: { ranksPerNode: 3 } });
  head.schedule();
  head.ended(`${id}#1`, { code: 1 });
  const { spec } = head.job(retry(head, id));
  assert.deepEqual([spec.mpi, spec.stepKey], [{ ranksPerNode: 3 }, head.job(id).spec.stepKey]);
  assert.ok(spec.stepKey);
});

scenario('[J32] a retry takes the files that it is given, where its job was sent any', (head) => {
  head.connect('n1', { shared: ['/data'] });
  const before = 'a'.repeat(64) as BlobHash;
  const now = 'b'.repeat(64) as BlobHash;
  const id = head.submit({ staging: { inputs: before, outputs: ['*.csv'] } });
  const shared = head.submit({ directory: { kind: 'shared', path: '/data' } });
  head.schedule();
  for (const one of [id, shared]) head.ended(`${one}#1`, { code: 1 });
  assert.deepEqual(head.job(retry(head, id)).spec.staging, { inputs: before, outputs: ['*.csv'] });
  const renewed = head.job(retry(head, id, { inputs: now })).spec;
  assert.deepEqual(renewed.staging, { inputs: now, outputs: ['*.csv'] });
  assert.equal(head.refused(command(shared, { inputs: now }), ANN), 'argument.invalid');
});
