// What owners ask of their jobs: hold, release, cancel, suspend, resume, signal, requeue.

import assert from 'node:assert/strict';
import type { Command } from '../../../../src/kernel/machine/declared.ts';
import { outstanding } from '../../../../src/kernel/machine/outstanding.ts';
import type { EpochId, JobId } from '../../../../src/kernel/model/ids.ts';
import { ANN, BOB, kinds, OPERATOR, place, scenario } from '../../../support/controller.ts';

const hold = (id: number): Command => ({ kind: 'hold_job', jobId: id as JobId });
const release = (id: number): Command => ({ kind: 'release_job', jobId: id as JobId });
const onTask = (
  kind: 'cancel_task' | 'suspend_task' | 'resume_task' | 'requeue_task',
  task: string,
): Command => ({ kind, place: place(task) });
const signal = (task: string, number: number): Command => ({
  kind: 'signal_task',
  place: place(task),
  signal: number,
});

scenario('[J12] a held job waits until it is released', (head) => {
  head.connect('n1');
  const id = head.submit({ held: true });
  assert.deepEqual(head.schedule(), []);
  head.command(release(id), ANN);
  head.command(hold(id), ANN);
  assert.deepEqual(head.command(hold(id), ANN), { kind: 'changed', count: 1 });
  assert.deepEqual(head.schedule(), []);
  head.command(release(id), ANN);
  assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
  assert.equal(head.refused(release(id), ANN), 'job.not_held');
  assert.equal(head.refused(hold(id), ANN), 'job.not_pending');
});

scenario('[J12] holding an array leaves what runs alone', (head) => {
  head.connect('n1', { cpus: 1 });
  head.submit({ array: { indices: '0-2' } });
  head.schedule();
  assert.deepEqual(head.command(hold(1), ANN), { kind: 'changed', count: 2 });
  head.started('1[0]#1');
  head.ended('1[0]#1');
  assert.deepEqual(head.schedule(), []);
  head.command(release(1), ANN);
  assert.deepEqual(head.schedule(), ['1[1]#1@n1']);
});

scenario('[J13] a pending job ends at once, a running one with its processes', (head) => {
  head.connect('n1', { cpus: 1 });
  head.running();
  head.submit();
  head.command(onTask('cancel_task', '2'), ANN);
  assert.equal(head.outcome(2), 'cancelled');
  head.command(onTask('cancel_task', '1'), OPERATOR);
  assert.equal(head.outcome(1), null);
  assert.deepEqual(head.orders('n1'), ['end 1#1']);
  head.submit();
  assert.deepEqual(head.schedule(), [], 'its resources are not free yet');
  head.ended('1#1', { cause: 'ended', signal: 15 });
  assert.equal(head.job(1).outcome?.detail, 'cancelled by olga');
  assert.deepEqual(head.schedule(), ['3#1@n1']);
});

scenario(
  '[J13] cancelling twice asks once, and a job that ended by itself is not cancelled',
  (head) => {
    head.connect('n1');
    head.running();
    head.command(onTask('cancel_task', '1'), ANN);
    const asked = head.perform({
      kind: 'command',
      command: onTask('cancel_task', '1'),
      actor: ANN,
    });
    assert.deepEqual(asked.events, []);
    head.ended('1#1');
    assert.equal(head.outcome(1), 'completed');
  },
);

scenario('[S6] nothing can be asked of a job that is done', (head) => {
  head.connect('n1');
  head.submit({ held: true });
  head.command(onTask('cancel_task', '1'), ANN);
  const before = structuredClone(head.job(1).outcome);
  const commands = [
    hold(1),
    release(1),
    signal('1', 15),
    onTask('cancel_task', '1'),
    onTask('suspend_task', '1'),
    onTask('resume_task', '1'),
    onTask('requeue_task', '1'),
  ];
  for (const command of commands) {
    assert.equal(head.refused(command, ANN), 'job.already_done', command.kind);
  }
  assert.deepEqual(head.job(1).outcome, before);
});

scenario('[J18] strangers may do nothing to a job, operators everything', (head) => {
  head.connect('n1');
  head.running();
  const commands = [
    hold(1),
    release(1),
    signal('1', 10),
    onTask('suspend_task', '1'),
    onTask('resume_task', '1'),
    onTask('requeue_task', '1'),
    onTask('cancel_task', '1'),
  ];
  for (const command of commands) {
    assert.equal(head.refused(command, BOB), 'auth.not_owner', command.kind);
  }
  for (const command of commands.slice(2)) head.command(command, OPERATOR);
  assert.equal(head.refused(hold(9), BOB), 'job.not_found');
});

scenario(
  '[J16] a task is suspended when its processes are, and runs again when resumed',
  (head) => {
    head.connect('n1', { cpus: 1 });
    const id = head.running();
    head.command(onTask('suspend_task', '1'), ANN);
    assert.deepEqual(head.orders('n1'), ['suspend 1#1']);
    assert.equal(head.task('1').state, 'running');
    head.suspended('1#1');
    assert.equal(head.task('1').state, 'suspended');
    assert.deepEqual(head.orders('n1'), []);
    assert.deepEqual(head.command(onTask('suspend_task', '1'), ANN), { kind: 'changed', count: 0 });
    head.submit();
    assert.deepEqual(head.schedule(), [], 'a suspended task keeps its resources');
    head.command(onTask('resume_task', '1'), ANN);
    assert.deepEqual(head.orders('n1'), ['resume 1#1']);
    head.resumed('1#1');
    assert.equal(head.task('1').state, 'running');
    assert.equal(head.refused(onTask('resume_task', '1'), ANN), 'job.not_suspended');
    head.ended('1#1');
    assert.equal(head.outcome(id), 'completed');
  },
);

scenario('[J16] a task of two nodes is suspended when both parts are', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.running({ nodeCount: 2 });
  head.command(onTask('suspend_task', '1'), ANN);
  head.suspended('1#1', 'n1');
  assert.equal(head.task('1').state, 'running');
  head.suspended('1#1', 'n2');
  assert.equal(head.task('1').state, 'suspended');
});

scenario('[J16] a suspend asked for while the task starts is told when it runs', (head) => {
  head.connect('n1');
  head.submit();
  head.schedule();
  head.command(onTask('suspend_task', '1'), ANN);
  assert.deepEqual(head.orders('n1'), ['launch 1#1']);
  head.started('1#1');
  assert.deepEqual(head.orders('n1'), ['suspend 1#1']);
});

scenario('[J16] a resume that overtakes its suspend wins', (head) => {
  head.connect('n1');
  head.running();
  head.command(onTask('suspend_task', '1'), ANN);
  head.command(onTask('resume_task', '1'), ANN);
  head.suspended('1#1');
  assert.deepEqual(head.orders('n1'), ['resume 1#1']);
  head.resumed('1#1');
  assert.deepEqual(head.orders('n1'), []);
});

scenario('[W6] stops and goes that are told again do not undo the last one', (head) => {
  head.connect('n1');
  head.running();
  const epochId = '1#1' as EpochId;
  const told = (['task_suspended', 'task_resumed', 'task_suspended'] as const).map(
    (kind, before) => ({ kind, epochId, at: head.at, turn: before + 1 }),
  );
  const tell = (): string[] => told.flatMap((report) => kinds(head.report('n1', report)));
  assert.deepEqual(tell(), ['part_suspended', 'part_resumed', 'part_suspended']);
  assert.deepEqual(tell(), []);
  head.connect('n1', { held: head.heldBy('n1') });
  assert.deepEqual(tell(), [], 'nor in a later session');
  assert.equal(head.task('1').state, 'suspended');
});

scenario('[W6] each wish of an owner is a turn of its own, from 1 in each epoch', (head) => {
  head.connect('n1');
  head.running();
  const turns = (): unknown[] => outstanding(head.state, head.node('n1'), head.settings);
  head.command(onTask('suspend_task', '1'), ANN);
  assert.deepEqual(turns(), [{ kind: 'suspend', epochId: '1#1', turn: 1 }]);
  head.suspended('1#1');
  head.command(onTask('resume_task', '1'), ANN);
  assert.deepEqual(turns(), [{ kind: 'resume', epochId: '1#1', turn: 2 }]);
  head.command(onTask('requeue_task', '1'), ANN);
  head.ended('1#1', { cause: 'ended', signal: 15 });
  head.schedule();
  head.started('1#2');
  head.command(onTask('suspend_task', '1'), ANN);
  assert.deepEqual(turns(), [{ kind: 'suspend', epochId: '1#2', turn: 1 }]);
});

scenario('[J17] a signal has a number of its own and goes with its epoch', (head) => {
  head.connect('n1');
  head.submit();
  assert.equal(head.refused(signal('1', 10), ANN), 'job.not_running');
  head.schedule();
  head.started('1#1');
  for (const number of [0, 65, 1.5]) {
    assert.equal(head.refused(signal('1', number), ANN), 'argument.invalid');
  }
  head.command(signal('1', 10), ANN);
  head.command(signal('1', 12), ANN);
  const [order] = [...head.node('n1').signals.values()];
  assert.deepEqual([order?.signal, order?.serial], [12, 2]);
  assert.deepEqual(head.orders('n1'), ['signal 1#1']);
  head.ended('1#1');
  assert.equal(head.node('n1').signals.size, 0);
});

scenario(
  '[J21] a requeue ends the epoch and starts the next, without counting against it',
  (head) => {
    head.connect('n1');
    head.running({ retriesMax: 0 });
    for (let epoch = 1; epoch <= 5; epoch += 1) {
      head.command(onTask('requeue_task', '1'), ANN);
      assert.equal(head.refused(onTask('requeue_task', '1'), ANN), 'job.not_running');
      assert.deepEqual(head.orders('n1'), [`end 1#${epoch}`]);
      head.ended(`1#${epoch}`, { cause: 'ended', signal: 15 });
      assert.deepEqual(head.schedule(), [`1#${epoch + 1}@n1`]);
    }
    assert.deepEqual([head.task('1').failures, head.task('1').crashes], [0, 0]);
  },
);

scenario('[J7] a cancel after a requeue wins, and a requeue after a cancel is refused', (head) => {
  head.connect('n1');
  head.running();
  head.command(onTask('requeue_task', '1'), ANN);
  head.command(onTask('cancel_task', '1'), ANN);
  assert.equal(head.refused(onTask('requeue_task', '1'), ANN), 'job.not_running');
  const events = head.ended('1#1', { cause: 'ended', signal: 15 });
  assert.deepEqual(kinds(events), ['part_ended', 'task_done', 'job_done']);
  assert.equal(head.outcome(1), 'cancelled');
});
