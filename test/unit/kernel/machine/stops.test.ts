// Who keeps a task stopped is a set: owner, scheduler and maintenances each undo only their own
// stop.

import assert from 'node:assert/strict';
import { isCycleDue } from '../../../../src/kernel/machine/schedule.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import {
  ANN,
  BOB,
  kinds,
  OPERATOR,
  place,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { cancel, planned } from '../../../support/maintenance.ts';
import { stopping } from '../../../support/preemption.ts';

function ask(head: TestHead, kind: 'suspend_task' | 'resume_task', task: string) {
  return head.command({ kind, place: place(task) }, ANN);
}

function suspendingMaintenance(head: TestHead, node: string): string {
  return planned(head, { time: { kind: 'now' }, running: 'suspend', nodes: [node as NodeName] });
}

/** The head dies and comes back; its nodes say what they hold. */
function restart(head: TestHead, ...nodes: readonly string[]): void {
  head.crash();
  for (const name of nodes) head.connect(name, { cpus: 2, held: head.heldBy(name) });
}

scenario("[J16] an owner's suspend during a maintenance counts, and outlasts it", (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  const id = suspendingMaintenance(head, 'n1');
  head.suspended('1#1');
  assert.deepEqual(ask(head, 'suspend_task', '1'), { kind: 'changed', count: 1 });
  assert.deepEqual(ask(head, 'suspend_task', '1'), { kind: 'changed', count: 0 });
  head.command(cancel(id), OPERATOR);
  assert.deepEqual(head.orders('n1'), [], 'its owner wants it to stand still');
  assert.deepEqual(ask(head, 'resume_task', '1'), { kind: 'changed', count: 1 });
  assert.deepEqual(head.orders('n1'), ['resume 1#1']);
});

scenario(
  "[J16] an owner's resume during a maintenance sends no order that is taken back",
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running();
    ask(head, 'suspend_task', '1');
    head.suspended('1#1');
    const id = suspendingMaintenance(head, 'n1');
    assert.deepEqual(ask(head, 'resume_task', '1'), { kind: 'changed', count: 1 });
    assert.deepEqual(head.orders('n1'), []);
    restart(head, 'n1');
    head.tick();
    assert.deepEqual(head.orders('n1'), []);
    head.command(cancel(id), OPERATOR);
    assert.deepEqual(head.orders('n1'), ['resume 1#1']);
  },
);

scenario('[J16] who may not resume a task is told what keeps it stopped', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running();
  const id = suspendingMaintenance(head, 'n1');
  head.suspended('1#1');
  const command = { kind: 'resume_task', place: place('1') } as const;
  const { result } = head.perform({ kind: 'command', command, actor: ANN });
  assert.ok(!result.ok);
  assert.equal(result.error.code, 'job.not_suspended');
  assert.match(result.error.hint ?? '', new RegExp(`maintenance ${id}; it resumes when`));
});

scenario('[M2] a task on nodes of two maintenances goes on when both are over', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 2 });
  head.running({ nodeCount: 2, cpuCount: 2 });
  const first = suspendingMaintenance(head, 'n1');
  const second = suspendingMaintenance(head, 'n2');
  head.suspended('1#1', 'n1');
  head.suspended('1#1', 'n2');
  head.command(cancel(first), OPERATOR);
  assert.deepEqual([...head.orders('n1'), ...head.orders('n2')], []);
  restart(head, 'n1', 'n2');
  head.command(cancel(second), OPERATOR);
  assert.deepEqual([...head.orders('n1'), ...head.orders('n2')], ['resume 1#1', 'resume 1#1']);
});

scenario(
  '[P13] a task that made room and that its owner suspends too is not woken by a cycle',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    const urgent = head.submit({ partition: 'urgent', cpuCount: 2 }, { by: BOB });
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['suspend_asked']);
    head.suspended('1#1');
    assert.deepEqual(head.schedule(), [`${urgent}#1@n1`]);
    head.started(`${urgent}#1`);
    assert.deepEqual(ask(head, 'suspend_task', '1'), { kind: 'changed', count: 1 });
    head.ended(`${urgent}#1`);
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), []);
    assert.deepEqual(head.orders('n1'), []);
    restart(head, 'n1');
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), []);
    assert.equal(isCycleDue(head.state), false);
    ask(head, 'resume_task', '1');
    assert.equal(isCycleDue(head.state), true);
    assert.deepEqual(head.orders('n1'), [], 'there must be room first');
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['resume_asked']);
    assert.deepEqual(head.orders('n1'), ['resume 1#1']);
  },
  stopping('first_fit'),
);
