// Maintenance from its plan to its end: what runs is treated by policy, programs run on the nodes,
// and whatever happens the nodes come back, or stay out with a reason.

import assert from 'node:assert/strict';
import { outstandingFences } from '../../../../src/kernel/machine/nodes/fences.ts';
import { outstanding } from '../../../../src/kernel/machine/outstanding.ts';
import { snapshotOf } from '../../../../src/kernel/machine/schedule.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import {
  ANN,
  kinds,
  OPERATOR,
  place,
  START_AT,
  scenario,
  type TestHead,
  user,
} from '../../../support/controller.ts';
import { cancel, MINUTE, PROGRAM, phase, planned, shown } from '../../../support/maintenance.ts';

/** The account of the launch that n1 is told of. */
function accountOn(head: TestHead): unknown {
  const [order] = outstanding(head.state, head.node('n1'), head.settings);
  return order?.kind === 'launch' ? order.account : undefined;
}

scenario('[M1] nothing starts that could run into a planned maintenance', (head) => {
  head.connect('n1', { cpus: 4 });
  const id = planned(head);
  head.submit({ walltimeMs: 11 * MINUTE });
  head.submit();
  head.submit({ walltimeMs: 10 * MINUTE });
  assert.deepEqual(head.schedule(), ['3#1@n1']);
  head.tick(10 * MINUTE);
  assert.equal(phase(head, id), 'draining', '3 has not said that it has ended');
  head.ended('3#1');
  head.tick();
  assert.equal(phase(head, id), 'active');
  assert.deepEqual(head.schedule(), []);
  head.tick(60 * MINUTE);
  assert.equal(phase(head, id), 'done');
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1']);
});

scenario('[M2] wait: what runs goes on, and the end is as planned', (head) => {
  head.connect('n1');
  head.running();
  const id = planned(head, { time: { kind: 'now' } });
  assert.equal(phase(head, id), 'draining');
  assert.deepEqual(head.orders('n1'), []);
  head.tick(60 * MINUTE);
  assert.equal(phase(head, id), 'done');
  assert.match(shown(head, id).detail ?? '', /; tasks still ran at its end on n1$/);
  assert.equal(head.task('1').state, 'running');
});

scenario('[M2] requeue: what runs is put back, and starts again afterwards', (head) => {
  head.connect('n1');
  head.running();
  const id = planned(head, { time: { kind: 'now' }, running: 'requeue' });
  assert.deepEqual(head.orders('n1'), ['end 1#1']);
  head.ended('1#1', { cause: 'ended', signal: 15 });
  head.tick();
  assert.equal(phase(head, id), 'active');
  assert.equal(head.task('1').crashes, 0);
  assert.deepEqual(head.schedule(), []);
  head.tick(60 * MINUTE);
  assert.deepEqual(head.schedule(), ['1#2@n1']);
});

scenario('[M2] requeue cancels what must not start twice', (head) => {
  head.connect('n1');
  head.running({ requeue: false });
  planned(head, { time: { kind: 'now' }, running: 'requeue' });
  head.ended('1#1', { cause: 'ended', signal: 15 });
  assert.equal(head.job(1).outcome?.detail, 'cancelled by maintenance m1');
});

scenario('[M2] suspend: what runs stands still, and goes on at the end', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  head.running();
  head.command({ kind: 'suspend_task', place: place('2') }, ANN);
  head.suspended('2#1');
  const id = planned(head, { time: { kind: 'now' }, running: 'suspend', program: PROGRAM });
  assert.deepEqual(head.orders('n1'), ['suspend 1#1']);
  head.suspended('1#1');
  assert.deepEqual(kinds(head.tick()).slice(0, 1), ['maintenance_moved']);
  assert.equal(phase(head, id), 'active', 'suspended tasks are not in the way');
  const resume = { kind: 'resume_task', place: place('1') } as const;
  assert.equal(head.refused(resume, ANN), 'job.not_suspended', 'a user cannot undo it');
  head.ended('3#1');
  head.tick();
  assert.equal(phase(head, id), 'done');
  assert.deepEqual(head.orders('n1'), ['resume 1#1'], 'not the one that its owner has stopped');
});

scenario(
  '[M2] a suspended task goes on at the end also where it has no part there any more',
  (head) => {
    for (const name of ['n1', 'n2']) head.connect(name, { cpus: 2 });
    head.running({ nodeCount: 2, cpuCount: 2 });
    const id = planned(head, { time: { kind: 'now' }, running: 'suspend' });
    head.suspended('1#1');
    head.ended('1#1', {}, 'n1');
    head.command(cancel(id), OPERATOR);
    assert.deepEqual(head.orders('n2'), ['resume 1#1']);
  },
);

scenario('[M2] kill: what runs is cancelled', (head) => {
  head.connect('n1');
  head.running();
  planned(head, { time: { kind: 'now' }, running: 'kill' });
  assert.deepEqual(head.orders('n1'), ['end 1#1']);
  head.ended('1#1', { cause: 'ended', signal: 9 });
  assert.equal(head.job(1).outcome?.detail, 'cancelled by maintenance m1');
});

scenario('[M3] a warning goes once to all that would still run', (head) => {
  head.connect('n1', { cpus: 4 });
  head.running();
  head.running({ walltimeMs: 5 * MINUTE });
  const id = planned(head, { warning: { leadMs: 5 * MINUTE, signal: 10 } });
  assert.equal(phase(head, id), 'planned');
  head.tick(4 * MINUTE);
  assert.deepEqual(head.orders('n1'), []);
  head.tick(MINUTE);
  assert.equal(phase(head, id), 'warned');
  assert.deepEqual(head.orders('n1'), ['signal 1#1']);
  assert.deepEqual(kinds(head.tick(MINUTE)), []);
});

scenario(
  '[M4] the program runs on each node once that is free, and its success ends it',
  (head) => {
    head.connect('n1');
    head.connect('n2');
    head.submit({ nodeNames: ['n2' as NodeName] });
    head.schedule();
    head.started('1#1');
    const nodes = ['n1', 'n2'] as NodeName[];
    const id = planned(head, { time: { kind: 'now' }, nodes, program: PROGRAM });
    const job = head.job(2);
    assert.deepEqual([job.owner, job.spec.name], ['system', 'm1@n1']);
    const cancelIt = { kind: 'cancel_task', place: { jobId: job.id, index: null } } as const;
    assert.equal(head.refused(cancelIt, user('system')), 'auth.not_owner');
    assert.deepEqual(head.holders('2#1'), ['n1']);
    head.started('2#1');
    head.ended('2#1');
    assert.equal(head.state.usage.usageAt(head.at).has(job.owner), false, 'it shares nothing');
    head.submit();
    head.tick();
    assert.deepEqual(head.schedule(), ['3#1@n1'], 'n1 is back, n2 is not');
    head.ended('1#1');
    head.tick();
    assert.deepEqual(head.holders('4#1'), ['n2']);
    head.started('4#1');
    head.ended('4#1');
    head.tick();
    assert.equal(phase(head, id), 'done');
    assert.equal(head.state.reservations.size, 0);
  },
);

scenario('[M4] a program that fails keeps its node out, with the reason', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.started('1#1');
  head.ended('1#1', { code: 2 });
  head.tick();
  const why = 'its program (job 1) ended as failed: exited with code 2 on n1';
  assert.equal(shown(head, id).detail, `n1: ${why}`);
  assert.equal(phase(head, id), 'failed');
  assert.equal(head.node('n1').drain?.reason, `maintenance m1: ${why}`);
  const again = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.started('2#1');
  head.ended('2#1');
  head.tick();
  assert.equal(phase(head, again), 'done', 'it runs on a drained node too');
  assert.ok(head.node('n1').drain !== null, 'which an operator has to give back');
});

scenario('[M4] a program has the time of the maintenance and no more', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  assert.equal(head.job(1).spec.walltimeMs, 60 * MINUTE);
  head.started('1#1');
  head.tick(60 * MINUTE);
  assert.equal(phase(head, id), 'restoring');
  head.submit();
  assert.deepEqual(head.schedule(), [], 'not while it is being ended');
  head.ended('1#1', { cause: 'timeout', signal: 15 });
  head.tick(1000);
  assert.equal(phase(head, id), 'failed');
  assert.match(head.node('n1').drain?.reason ?? '', /did not finish before the maintenance ended$/);
});

scenario(
  '[A14] a program that begins late keeps nobody waiting beyond the maintenance',
  (head) => {
    head.connect('n1', { cpus: 4 });
    const id = planned(head, { program: PROGRAM });
    const end = START_AT + 70 * MINUTE;
    head.submit({ exclusive: true });
    const promise = () =>
      plan(snapshotOf(head.state, head.settings, 100, head.at), head.at).promised;
    head.at = end - 300;
    assert.equal(promise()[0]?.at, end);
    head.tick();
    assert.equal(shown(head, id).works['n1' as NodeName]?.kind, 'running');
    assert.equal(promise()[0]?.at, end, 'its own time limit ends with the maintenance');
  },
  { scheduling: plainScheduling('conservative') },
);

scenario('[M4] nobody gets in between the end of the time and the next look at it', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.started('1#1');
  head.submit();
  head.at += 60 * MINUTE;
  head.ended('1#1', { cause: 'timeout', signal: 15 });
  const { events } = head.perform({ kind: 'schedule' });
  assert.ok(!kinds(events).includes('task_allocated'), 'the node is no good');
  assert.equal(phase(head, id), 'failed');
  assert.match(head.node('n1').drain?.reason ?? '', /did not finish before the maintenance ended$/);
});

scenario(
  '[M4] a node whose tasks went on to the end comes back though nothing was done',
  (head) => {
    head.connect('n1');
    head.running();
    const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
    head.tick(60 * MINUTE);
    assert.equal(phase(head, id), 'failed');
    assert.equal(head.node('n1').drain, null);
  },
);

scenario('[M5] a node may restart in its maintenance: its program is through then', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.started('1#1');
  head.disconnect('n1');
  head.silence('n1', 60_000);
  assert.deepEqual(outstandingFences(head.state), []);
  head.tick(MINUTE);
  assert.equal(phase(head, id), 'active');
  head.connect('n1', { bootId: 'another' });
  assert.equal(head.outcome(1), 'completed');
  head.tick();
  assert.equal(phase(head, id), 'done');
});

scenario('[M5] with a restart announced, the node must come back with another boot', (head) => {
  head.connect('n1');
  const program = { ...PROGRAM, restarts: true };
  const id = planned(head, { time: { kind: 'now' }, program });
  head.started('1#1');
  head.ended('1#1');
  head.tick();
  head.submit();
  assert.deepEqual(head.schedule(), [], 'it is about to go down');
  head.disconnect('n1');
  head.connect('n1');
  head.tick(MINUTE);
  assert.equal(phase(head, id), 'active', 'that was its agent only');
  head.disconnect('n1');
  head.connect('n1', { bootId: 'another' });
  head.tick(MINUTE);
  assert.equal(phase(head, id), 'done');
  assert.deepEqual(head.schedule(), ['2#1@n1']);
});

scenario('[M5] a node that is not back at the end stays out', (head) => {
  head.connect('n1');
  const program = { ...PROGRAM, restarts: true };
  const id = planned(head, { time: { kind: 'now' }, program });
  head.started('1#1');
  head.disconnect('n1');
  head.tick(60 * MINUTE);
  assert.equal(phase(head, id), 'restoring', 'it was heard of lately');
  head.silence('n1', head.settings.nodeTimeoutMs);
  head.tick();
  assert.equal(phase(head, id), 'failed');
  assert.match(
    head.node('n1').drain?.reason ?? '',
    /the node did not come back before the maintenance ended$/,
  );
});

scenario('[M7] a head that was away at the end hears how the programs went', (head) => {
  for (const name of ['n1', 'n2', 'n3']) head.connect(name);
  const nodes = ['n1', 'n2', 'n3'] as NodeName[];
  const id = planned(head, { nodes, time: { kind: 'now' }, program: PROGRAM });
  for (const epoch of ['1#1', '2#1', '3#1']) head.started(epoch);
  head.crash();
  head.tick(61 * MINUTE);
  assert.equal(phase(head, id), 'restoring');
  for (const name of nodes) head.connect(name, { held: head.heldBy(name) });
  head.ended('1#1');
  head.ended('2#1', { code: 9 });
  head.tick();
  head.ended('3#1', { cause: 'ended', signal: 15 });
  head.tick();
  const { works, phase: now } = shown(head, id);
  assert.equal(now, 'failed');
  assert.equal(works['n1' as NodeName]?.kind, 'done');
  assert.equal(head.node('n1').drain, null);
  assert.match(head.node('n2').drain?.reason ?? '', /exited with code 9/);
  assert.match(head.node('n3').drain?.reason ?? '', /did not finish before the maintenance ended$/);
});

scenario('[M7] a node that restarted while the head was away is back', (head) => {
  head.connect('n1');
  const program = { ...PROGRAM, restarts: true };
  const id = planned(head, { time: { kind: 'now' }, program });
  head.started('1#1');
  head.ended('1#1');
  head.tick();
  head.crash();
  head.tick(61 * MINUTE);
  head.connect('n1', { bootId: 'another' });
  head.tick();
  assert.equal(phase(head, id), 'done');
});

scenario('[M5] a task that is lost in maintenance is not to blame', (head) => {
  head.connect('n1');
  head.running();
  planned(head, { time: { kind: 'now' }, running: 'suspend' });
  head.suspended('1#1');
  head.connect('n1', { bootId: 'another' });
  assert.equal(head.task('1').state, 'pending');
  assert.equal(head.task('1').crashes, 0);
});

scenario('[M6] cancelling takes everything back, at any stage', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  const early = planned(head);
  head.command(cancel(early), OPERATOR);
  assert.equal(phase(head, early), 'cancelled');
  head.submit();
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  head.started('2#1');
  const late = planned(head, { time: { kind: 'now' }, running: 'suspend', program: PROGRAM });
  head.suspended('1#1');
  head.suspended('2#1');
  head.tick();
  head.started('3#1');
  head.command(cancel(late), OPERATOR);
  assert.equal(phase(head, late), 'restoring');
  assert.deepEqual(head.orders('n1'), ['end 3#1']);
  assert.equal(head.refused(cancel(late)), 'maintenance.over');
  head.ended('3#1', { cause: 'ended', signal: 15 });
  head.tick();
  assert.equal(phase(head, late), 'cancelled');
  assert.deepEqual(head.orders('n1'), ['resume 1#1', 'resume 2#1']);
  assert.equal(head.node('n1').drain, null);
});

scenario('[M7] a head that starts again goes on where it was, at every stage', (head) => {
  head.connect('n1');
  head.running();
  const warning = { leadMs: 5 * MINUTE, signal: 15 };
  const id = planned(head, { running: 'suspend', warning, program: PROGRAM });
  const stages: string[] = [];
  const restart = () => {
    stages.push(phase(head, id));
    head.crash();
    head.connect('n1', { held: head.heldBy('n1') });
    assert.equal(phase(head, id), stages.at(-1));
  };
  restart();
  head.tick(5 * MINUTE);
  restart();
  head.tick(5 * MINUTE);
  restart();
  head.suspended('1#1');
  head.tick();
  restart();
  head.started('2#1');
  head.tick(60 * MINUTE);
  restart();
  head.ended('2#1', { cause: 'ended', signal: 15 });
  head.tick();
  restart();
  assert.deepEqual(stages, ['planned', 'warned', 'draining', 'active', 'restoring', 'failed']);
  assert.deepEqual(head.orders('n1'), ['resume 1#1', 'signal 1#1']);
});

scenario('[M7] a head that was away begins late, or says that it missed it', (head) => {
  head.connect('n1');
  const late = planned(head, { durationMs: 20 * MINUTE });
  const gone = planned(head, {
    time: { kind: 'fixed', from: START_AT + 40 * MINUTE },
    durationMs: MINUTE,
  });
  head.crash();
  head.at += 15 * MINUTE;
  head.tick();
  assert.equal(phase(head, late), 'active');
  head.crash();
  head.at += 45 * MINUTE;
  head.tick();
  assert.equal(phase(head, late), 'done');
  assert.equal(shown(head, gone).detail, 'n1: the head was down for the whole maintenance');
});

scenario('a node that is removed meanwhile is waited for by nobody', (head) => {
  head.connect('n1');
  head.connect('n2');
  const nodes = ['n1', 'n2'] as NodeName[];
  const id = planned(head, { nodes, program: PROGRAM });
  head.command({ kind: 'remove_node', node: 'n2' as NodeName });
  head.tick(10 * MINUTE);
  head.started('1#1');
  head.ended('1#1');
  head.tick();
  assert.equal(shown(head, id).detail, 'n2: the node was removed');
});

scenario('a program runs under the account that was named, or as the agent itself', (head) => {
  head.connect('n1');
  const program = { ...PROGRAM, account: 'ann' as never };
  const id = planned(head, { time: { kind: 'now' }, program });
  assert.deepEqual(accountOn(head), { user: 'ann', uid: null });
  head.started('1#1');
  head.ended('1#1');
  head.tick();
  assert.equal(phase(head, id), 'done');
  planned(head, { time: { kind: 'now' }, program: PROGRAM });
  assert.deepEqual(accountOn(head), { user: 'system', uid: null, own: true });
});

scenario(
  'what the scheduler has stopped waits for the end of the maintenance to go on',
  (head) => {
    head.connect('n1', { cpus: 1 });
    head.running();
    const urgent = head.submit({ partition: 'urgent' });
    head.perform({ kind: 'schedule' });
    head.suspended('1#1');
    assert.deepEqual(head.schedule(), [`${urgent}#1@n1`]);
    head.started(`${urgent}#1`);
    const id = planned(head, { time: { kind: 'now' } });
    head.ended(`${urgent}#1`);
    head.perform({ kind: 'schedule' });
    assert.deepEqual(head.orders('n1'), []);
    head.tick(60 * MINUTE);
    assert.equal(phase(head, id), 'done');
    head.perform({ kind: 'schedule' });
    assert.deepEqual(head.orders('n1'), ['resume 1#1']);
  },
  {
    scheduling: {
      ...plainScheduling('first_fit'),
      partitions: {
        default: { ...plainPartition('default'), preempt: 'suspend' },
        urgent: { ...plainPartition('urgent'), tier: 1 },
      },
    },
  },
);

scenario('a program that was to be started again is over with its time', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.ended('1#1', { cause: 'never_started' });
  assert.equal(head.task('1').state, 'pending');
  head.tick(60 * MINUTE);
  assert.equal(phase(head, id), 'failed');
  assert.equal(head.outcome(1), 'cancelled');
});

scenario('[M6] a program that was told to start again is over with its maintenance too', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.started('1#1');
  head.command({ kind: 'requeue_task', place: place('1') });
  head.disconnect('n1');
  head.silence('n1', 60_000);
  head.command(cancel(id));
  head.connect('n1', { bootId: 'another' });
  assert.equal(phase(head, id), 'cancelled');
  assert.equal(head.outcome(1), 'cancelled');
});

scenario('a program that never arrived is started again', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.ended('1#1', { cause: 'never_started' });
  assert.deepEqual(head.schedule(), ['1#2@n1']);
  head.started('1#2');
  head.ended('1#2');
  head.tick();
  assert.equal(phase(head, id), 'done');
});

scenario('[S7] what one maintenance lets go on, another stops in the same look', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.submit({ nodeCount: 2 });
  head.schedule();
  head.started('1#1', 'n1', 'n2');
  const later = { kind: 'fixed', from: START_AT + 5 * MINUTE } as const;
  planned(head, { time: later, running: 'suspend' });
  const second = { nodes: ['n2' as NodeName], durationMs: 10 * MINUTE };
  planned(head, { ...second, time: { kind: 'now' }, running: 'suspend' });
  head.suspended('1#1', 'n1', 'n2');
  head.tick(5 * MINUTE);
  head.tick(5 * MINUTE);
  assert.deepEqual(head.orders('n1'), [], 'it stands still for the first');
  assert.deepEqual(kinds(head.tick()), [], 'and nothing more comes of another look');
});
