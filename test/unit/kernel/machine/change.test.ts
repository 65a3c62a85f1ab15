// Changing jobs that wait: what may be changed when, by whom, and within which limits.

import assert from 'node:assert/strict';
import { submissionOf } from '../../../../src/kernel/machine/jobs/resubmission.ts';
import type { Actor } from '../../../../src/kernel/model/actor.ts';
import type { Code } from '../../../../src/kernel/model/errors.ts';
import type { JobId, UserName } from '../../../../src/kernel/model/ids.ts';
import {
  plainPartition,
  plainQos,
  plainScheduling,
} from '../../../../src/kernel/model/scheduling.ts';
import type { JobChange } from '../../../../src/kernel/model/submission.ts';
import {
  ANN,
  BOB,
  OPERATOR,
  SETTINGS,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';

const HOUR_MS = 3_600_000;

function change(head: TestHead, id: JobId | number, wish: JobChange, by: Actor = ANN): void {
  head.command({ kind: 'change_job', jobId: id as JobId, change: wish }, by);
}

function refused(head: TestHead, id: number, wish: JobChange, by: Actor = ANN): Code {
  return head.refused({ kind: 'change_job', jobId: id as JobId, change: wish }, by);
}

/** Partition `short` has a limit of an hour, `closed` takes nobody, `bobs` only bob; QoS `few`. */
function configure(head: TestHead): void {
  const plain = plainScheduling('first_fit');
  const short = plainPartition('short');
  const limits = { ...short.limits, walltimeMs: HOUR_MS };
  head.settings = {
    ...SETTINGS,
    scheduling: {
      ...plain,
      partitions: {
        ...plain.partitions,
        short: { ...short, limits },
        closed: { ...plainPartition('closed'), state: 'drain' },
        bobs: { ...plainPartition('bobs'), users: ['bob' as UserName] },
      },
      qualities: { few: { ...plainQos('few'), waitingJobsPerUser: 1 } },
    },
  };
}

scenario(
  '[J33] a comment is changed while tasks run, and is there for who runs it again',
  (head) => {
    head.connect('n1', { cpus: 1 });
    const array = { indices: '0-1' };
    const id = head.submit({ cpuCount: 1, array, comment: 'first' });
    assert.deepEqual(head.schedule(), [`${id}[0]#1@n1`]);
    head.started(`${id}[0]#1`);
    assert.equal(head.job(id).spec.comment, 'first');
    change(head, id, { comment: 'second' });
    change(head, id, { nice: 3 });
    const { spec } = head.job(id);
    assert.deepEqual(
      [spec.comment, spec.nice, submissionOf(spec).comment],
      ['second', 3, 'second'],
    );
    head.ended(`${id}[0]#1`);
    assert.deepEqual(head.schedule(), [`${id}[1]#1@n1`]);
    head.started(`${id}[1]#1`);
    change(head, id, { comment: 'last' });
    assert.equal(head.job(id).spec.comment, 'last', 'also once none of them waits');
    assert.equal(refused(head, id, { comment: 'x', nice: 1 }), 'job.not_pending');
    head.ended(`${id}[1]#1`);
    assert.equal(refused(head, id, { comment: 'x' }), 'job.already_done');
    const other = head.submit({ cpuCount: 1 });
    assert.equal('comment' in head.job(other).spec, false, 'nothing is kept where none is given');
  },
);

scenario('[J26] what waits can be changed, and starts by what it is now', (head) => {
  head.connect('n1', { cpus: 4 });
  const filler = head.running({ cpuCount: 3 });
  const id = head.submit({ cpuCount: 4, name: 'old', environment: { A: '1' } });
  assert.deepEqual(head.schedule(), []);
  change(head, id, { name: 'new', walltimeMs: HOUR_MS, nice: 7, cpuCount: 1 });
  const { spec, entry } = head.job(id);
  assert.deepEqual([spec.name, spec.walltimeMs, spec.nice], ['new', HOUR_MS, 7]);
  assert.deepEqual(
    [entry.nice, spec.request.perNode.cpuCount, spec.environment],
    [7, 1, { A: '1' }],
  );
  assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
  assert.equal(refused(head, id, { walltimeMs: null }), 'job.not_pending', 'it runs');
  head.ended(`${id}#1`);
  assert.equal(refused(head, id, { nice: 1 }), 'job.already_done');
  head.ended(`${filler}#1`);
});

scenario(
  '[J26] hold, begin time and running limit of an array change while some of its tasks run',
  (head) => {
    head.connect('n1', { cpus: 2 });
    const id = head.submit({ array: { indices: '0-9', runningMax: 2 } });
    assert.equal(head.schedule().length, 2);
    assert.equal(refused(head, id, { partition: 'default' }), 'job.not_pending');
    assert.equal(refused(head, id, { name: 'x' }), 'job.not_pending', 'they were told their name');
    assert.equal(refused(head, id, { runningMax: 1 }), 'argument.invalid', 'two run already');
    change(head, id, { runningMax: 3, nice: 2, held: true });
    assert.deepEqual([head.job(id).held, head.job(id).entry.runningMax], [true, 3]);
    change(head, id, { held: false, beginAt: head.at + 5000 });
    head.ended(`${id}[0]#1`);
    assert.deepEqual(head.schedule(), [], 'not before its new begin time');
    head.tick(6000);
    assert.deepEqual(head.schedule(), [`${id}[2]#1@n1`]);
    change(head, id, { runningMax: null, beginAt: head.at });
    assert.equal(head.job(id).spec.array?.runningMax, undefined);
  },
);

scenario('[J26] limits and access are those of a submission', (head) => {
  head.connect('n1', { cpus: 4 });
  configure(head);
  const id = head.submit({ held: true });
  assert.equal(refused(head, id, {}), 'argument.invalid');
  assert.equal(refused(head, id, { nice: 1000 }), 'argument.invalid');
  assert.equal(refused(head, id, { runningMax: 2 }), 'argument.invalid', 'it is no array');
  assert.equal(refused(head, id, { partition: 'nowhere' }), 'partition.unknown');
  assert.equal(refused(head, id, { partition: 'closed' }), 'partition.closed');
  assert.equal(refused(head, id, { partition: 'bobs' }), 'partition.access_denied');
  assert.equal(refused(head, id, { partition: 'short' }), 'partition.walltime_exceeded');
  assert.equal(refused(head, id, { cpuCount: 9 }), 'resources.unsatisfiable');
  assert.equal(refused(head, id, { warning: { signal: 12, leadMs: 1 } }), 'argument.invalid');
  assert.equal(refused(head, id, { nice: 1 }, BOB), 'auth.not_owner');
  change(head, id, { partition: 'short', walltimeMs: HOUR_MS });
  assert.equal(head.job(id).entry.shape.partition, 'short');
  assert.equal(refused(head, id, { walltimeMs: 2 * HOUR_MS }), 'partition.walltime_exceeded');
  change(head, id, { partition: 'bobs' }, OPERATOR);
  assert.equal(head.job(id).spec.partition, 'bobs', 'an operator moves it anywhere');
});

scenario('[J26] a change of QoS counts among those that wait under it', (head) => {
  head.connect('n1');
  configure(head);
  const [first, second] = [head.submit({ held: true }), head.submit({ held: true })];
  change(head, first, { qos: 'few' });
  assert.equal(refused(head, second, { qos: 'few' }), 'quota.exceeded');
  change(head, first, { nice: 3 });
  change(head, first, { qos: 'normal' });
  assert.equal(head.job(first).spec.qos, undefined);
  change(head, second, { qos: 'few' });
});

scenario('[J26] a signal before the limit and the limit change together', (head) => {
  head.connect('n1');
  const id = head.submit({
    held: true,
    walltimeMs: HOUR_MS,
    warning: { signal: 12, leadMs: 60_000 },
  });
  assert.equal(refused(head, id, { walltimeMs: 30_000 }), 'argument.invalid');
  change(head, id, { walltimeMs: 30_000, warning: { signal: 10, leadMs: 5000 } });
  assert.deepEqual(head.job(id).spec.warning, { signal: 10, leadMs: 5000 });
  change(head, id, { nice: 1 });
  assert.deepEqual(head.job(id).spec.warning, { signal: 10, leadMs: 5000 });
  change(head, id, { warning: null });
  assert.equal(head.job(id).spec.warning, undefined);
});
