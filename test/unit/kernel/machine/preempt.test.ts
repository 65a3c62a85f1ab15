// A task of a higher tier takes the place of others: by requeueing, cancelling or stopping them.

import assert from 'node:assert/strict';
import type { Event } from '../../../../src/kernel/machine/declared.ts';
import { isCycleDue, snapshotOf } from '../../../../src/kernel/machine/schedule.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { PreemptMode } from '../../../../src/kernel/model/scheduling.ts';
import {
  plainPartition,
  plainQos,
  plainScheduling,
} from '../../../../src/kernel/model/scheduling.ts';
import type { Settings } from '../../../../src/kernel/model/settings.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import {
  ANN,
  BOB,
  kinds,
  place,
  SETTINGS,
  scenario,
  type TestHead,
  user,
} from '../../../support/controller.ts';

const CAROL = user('carol');

/** Jobs that name no partition are of the lower tier. */
function settings(preempt: PreemptMode): Settings {
  const low = { ...plainPartition('default', 'first_fit'), preempt };
  const urgent = { ...plainPartition('urgent', 'first_fit'), tier: 1 };
  const partitions = { default: low, urgent };
  return { ...SETTINGS, scheduling: { ...plainScheduling('first_fit'), partitions } };
}

function urgent(head: TestHead) {
  return head.submit({ partition: 'urgent', cpuCount: 2 }, { by: BOB });
}

/** One cycle, all its events. */
function cycle(head: TestHead): readonly Event[] {
  return head.perform({ kind: 'schedule' }).events;
}

scenario(
  '[P11] a requeued task makes room and waits for its turn, as preempted',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    const id = urgent(head);
    const because = `preempted by ${id} of bob`;
    const [asked] = cycle(head);
    const said = { kind: 'end_asked', place: place('1'), why: 'requeue', by: 'scheduler', because };
    assert.deepEqual(asked, said);
    assert.deepEqual(head.orders('n1'), ['end 1#1']);
    assert.deepEqual(cycle(head), [], 'it is told once');
    head.submit({ cpuCount: 1 });
    assert.deepEqual(cycle(head), [], 'nobody else gets what it leaves');
    const events = head.ended('1#1', { cause: 'ended', signal: 15 });
    const [requeued] = events.filter((event) => event.kind === 'task_requeued');
    assert.equal(requeued?.kind === 'task_requeued' && requeued.because, because);
    assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
    head.started(`${id}#1`);
    head.ended(`${id}#1`);
    assert.deepEqual(head.schedule(), ['1#2@n1']);
  },
  settings('requeue'),
);

scenario(
  '[P11] a cancelled task says for whom',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    const id = urgent(head);
    cycle(head);
    head.ended('1#1', { cause: 'ended', signal: 15 });
    assert.equal(head.job(1).outcome?.kind, 'cancelled');
    assert.equal(head.job(1).outcome?.detail, `preempted by ${id} of bob`);
    assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
  },
  settings('cancel'),
);

scenario(
  '[P12] a task whose preemptor has gone is not brought back, and nobody else is told to leave',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.connect('n2', { cpus: 2 });
    head.running({ cpuCount: 2 });
    head.running({ cpuCount: 2 });
    const id = urgent(head);
    assert.equal(cycle(head).length, 1);
    head.command({ kind: 'cancel_task', place: place(`${id}`) }, BOB);
    urgent(head);
    assert.deepEqual(cycle(head), [], 'what leaves is enough for the next one');
  },
  settings('requeue'),
);

scenario(
  '[P13] a stopped task keeps its memory, gives its cpus, and goes on when there is room',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    const memory = head.node('n1').free.memoryBytes;
    const id = urgent(head);
    assert.equal(cycle(head)[0]?.kind, 'suspend_asked');
    assert.deepEqual(head.orders('n1'), ['suspend 1#1']);
    assert.equal(head.node('n1').free.cpuCount, 0, 'its cpus are its own until it has stopped');
    assert.deepEqual(cycle(head), []);
    head.suspended('1#1');
    assert.equal(head.node('n1').free.cpuCount, 2);
    assert.equal(head.node('n1').free.memoryBytes, memory);
    assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
    head.started(`${id}#1`);
    const small = head.submit({ cpuCount: 1 });
    assert.equal(
      head.refused({ kind: 'resume_task', place: place('1') }, ANN),
      'job.not_suspended',
    );
    head.crash();
    head.connect('n1', { cpus: 2, held: head.heldBy('n1') });
    assert.deepEqual(cycle(head), []);
    head.ended(`${id}#1`);
    assert.deepEqual(
      cycle(head).map((event) => event.kind),
      ['resume_asked'],
      'before anything new of its tier',
    );
    assert.equal(head.node('n1').free.cpuCount, 0);
    assert.deepEqual(head.orders('n1'), ['resume 1#1']);
    head.resumed('1#1');
    assert.equal(head.task('1').state, 'running');
    head.ended('1#1');
    assert.deepEqual(head.schedule(), [`${small}#1@n1`]);
  },
  settings('suspend'),
);

scenario(
  '[P13] a stopped task goes on though its node takes no new work',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    const id = urgent(head);
    cycle(head);
    head.suspended('1#1');
    head.schedule();
    head.started(`${id}#1`);
    head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'repair' });
    assert.deepEqual(cycle(head), []);
    head.ended(`${id}#1`);
    assert.deepEqual(
      cycle(head).map((event) => event.kind),
      ['resume_asked'],
    );
  },
  settings('suspend'),
);

scenario(
  '[P13, S2] a stopped task that is ended has its cpus back before anybody new, as far as they are free',
  (head) => {
    head.connect('n1', { cpus: 4 });
    head.running({ cpuCount: 4 });
    const id = urgent(head);
    cycle(head);
    head.suspended('1#1');
    assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
    head.started(`${id}#1`);
    assert.equal(head.node('n1').free.cpuCount, 2);
    head.command({ kind: 'cancel_task', place: place('1') }, ANN);
    const small = head.submit({ cpuCount: 1 });
    assert.deepEqual(cycle(head), [], 'it runs until it has ended');
    head.ended(`${id}#1`);
    assert.deepEqual(cycle(head), [], 'with what others have given back meanwhile');
    head.crash();
    head.connect('n1', { cpus: 4, held: head.heldBy('n1') });
    assert.equal(head.node('n1').free.cpuCount, 0);
    head.ended('1#1', { cause: 'ended', signal: 9 });
    assert.deepEqual(head.schedule(), [`${small}#1@n1`]);
  },
  settings('suspend'),
);

scenario(
  '[P13] a stopped task can be cancelled, and its room is whole again',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    urgent(head);
    cycle(head);
    head.suspended('1#1');
    head.command({ kind: 'cancel_task', place: place('1') }, ANN);
    assert.deepEqual(head.orders('n1'), ['end 1#1']);
    head.ended('1#1', { cause: 'ended', signal: 9 });
    assert.deepEqual(head.node('n1').free, head.node('n1').total);
  },
  settings('suspend'),
);

scenario(
  '[P12] asking what would be planned leaves no trace in what is planned next',
  (head) => {
    head.connect('n1', { cpus: 2 });
    const blocker = head.running({ partition: 'urgent', cpuCount: 1 });
    head.running({ cpuCount: 1 });
    urgent(head);
    plan(snapshotOf(head.state, settings('requeue'), 10, 0), 0);
    assert.equal(head.state.scratch.chain, null, 'a search that found nothing is not remembered');
    head.ended(`${blocker}#1`);
    const [asked] = cycle(head);
    assert.equal(asked?.kind, 'end_asked');
  },
  settings('requeue'),
);

scenario(
  '[P12] cycles that follow each other forget who was hopeless when one of the nodes has changed',
  (head) => {
    head.connect('n1', { cpus: 4 });
    const blocker = head.running({ partition: 'urgent', cpuCount: 1 });
    head.running({ cpuCount: 3 });
    const first = head.submit({ partition: 'urgent', cpuCount: 4 }, { by: BOB });
    head.submit({ partition: 'urgent', cpuCount: 3 }, { by: BOB });
    assert.deepEqual(cutShort(head), [], 'nobody can make room for the first');
    head.ended(`${blocker}#1`);
    const [asked] = cutShort(head);
    assert.ok(asked?.kind === 'end_asked');
    assert.equal(asked.because, `preempted by ${first} of bob`);
  },
  settings('requeue'),
);

scenario(
  '[P12] cycles that follow each other begin anew when something happened on the way',
  (head) => {
    head.connect('n1', { cpus: 4 });
    head.running({ partition: 'urgent', cpuCount: 1 });
    head.running({ cpuCount: 3 });
    for (const walltimeMs of [null, 1000]) {
      head.submit({ partition: 'urgent', cpuCount: 4, walltimeMs }, { by: BOB });
    }
    cutShort(head);
    head.submit({ partition: 'urgent', cpuCount: 3 }, { by: BOB });
    assert.deepEqual(cutShort(head), []);
    assert.deepEqual(kinds(cutShort(head)), ['end_asked']);
    assert.equal(head.state.scratch.chain, null);
    assert.ok(isCycleDue(head.state), 'what was remembered may be wrong by now');
    for (let left = 3; isCycleDue(head.state); left -= 1) {
      assert.ok(left > 0, 'nothing happens any more');
      assert.deepEqual(cutShort(head), []);
    }
  },
  settings('requeue'),
);

/** One cycle, which may leave the rest to the next one. */
function cutShort(head: TestHead): readonly Event[] {
  return head.once({ kind: 'schedule' }).events;
}

const LIMITED: Settings = {
  ...SETTINGS,
  scheduling: {
    ...plainScheduling('first_fit'),
    partitions: {
      default: { ...plainPartition('default', 'first_fit'), preempt: 'requeue' },
      urgent: { ...plainPartition('urgent', 'first_fit'), tier: 1, policy: 'fifo' },
    },
    qualities: { normal: { ...plainQos('normal'), runningTasksPerUser: 1 } },
  },
};

scenario(
  '[P12] nobody leaves if a task of the same user then has its turn, as it is at its limit no more',
  (head) => {
    for (const name of ['n1', 'n2']) head.connect(name, { cpus: 2 });
    const other = head.submit({ partition: 'urgent', cpuCount: 2 }, { by: BOB });
    assert.equal(head.schedule().length, 1);
    head.started(`${other}#1`);
    const low = head.running({ cpuCount: 2 });
    head.submit({ partition: 'urgent', nodeCount: 2 });
    head.submit({ partition: 'urgent', cpuCount: 1 }, { by: CAROL });
    for (let round = 0; round < 3; round += 1) {
      for (const event of cycle(head)) assert.notEqual(event.kind, 'end_asked');
      head.tick(1000);
    }
    assert.equal(head.task(`${low}`).state, 'running');
    head.ended(`${other}#1`);
    head.ended(`${low}#1`);
    assert.deepEqual(head.schedule(), ['3#1@n1+n2', '4#1@n1']);
  },
  LIMITED,
);
