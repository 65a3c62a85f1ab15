// Stopped tasks on several nodes, some of which get nothing new: they wait for all of them, and
// have their turn by tier on those that others want too.

import assert from 'node:assert/strict';
import { lookAhead, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import { snapshotOf } from '../../../../src/kernel/machine/schedule.ts';
import { viewWithStopped } from '../../../../src/kernel/machine/tasks/stopped.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import type { Window } from '../../../../src/kernel/scheduler/room/lane.ts';
import {
  BOB,
  kinds,
  OPERATOR,
  place,
  START_AT,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { planned } from '../../../support/maintenance.ts';
import { stopping } from '../../../support/preemption.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

const STOPPING = stopping('first_fit');
const [N1, N2] = ['n1', 'n2'] as NodeName[] as [NodeName, NodeName];

/** What the next cycle does, its starts by job. */
function cycle(head: TestHead): string[] {
  return head.perform({ kind: 'schedule' }).events.map((event) => {
    return event.kind === 'task_allocated' ? `${event.place.jobId}` : event.kind;
  });
}

function drain(head: TestHead, node: NodeName): void {
  head.command({ kind: 'drain_node', node, reason: 'fan' });
}

/** Job 1 runs on all of n1 and n2. */
function wide(head: TestHead): void {
  for (const name of [N1, N2]) head.connect(name, { cpus: 2 });
  head.running({ cpuCount: 2, nodeCount: 2, walltimeMs: 10 * HOUR });
  head.at += MINUTE;
}

function urgent(head: TestHead, cpuCount = 2, on = [N2]): string {
  const nodeCount = on.length;
  const wish = { partition: 'urgent', cpuCount, nodeCount, walltimeMs: HOUR, nodeNames: on };
  return `${head.submit(wish, { by: BOB })}`;
}

/** Job 1 has been stopped for two halves of n2, jobs 2 and 3. */
function stoppedForTwo(head: TestHead): void {
  wide(head);
  const two = [urgent(head, 1), urgent(head, 1)];
  assert.deepEqual(cycle(head), ['suspend_asked']);
  head.suspended('1#1');
  assert.deepEqual(cycle(head), two);
  for (const id of two) head.started(`${id}#1`);
}

for (const closes of ['before it stops', 'when it has stopped']) {
  scenario(
    `[P13] a higher tier starts on one node of a stopped task though the other was drained ${closes}`,
    (head) => {
      wide(head);
      if (closes === 'before it stops') drain(head, N1);
      const id = urgent(head);
      assert.deepEqual(cycle(head), ['suspend_asked']);
      head.suspended('1#1');
      if (closes !== 'before it stops') drain(head, N1);
      assert.deepEqual(cycle(head), [id]);
      head.started(`${id}#1`);
      head.at += MINUTE;
      assert.deepEqual(cycle(head), []);
      head.ended(`${id}#1`);
      assert.deepEqual(cycle(head), ['resume_asked']);
    },
    STOPPING,
  );
}

scenario(
  '[P13] nothing new of its tier starts before a stopped task, on the node of it that is not drained',
  (head) => {
    stoppedForTwo(head);
    drain(head, N1);
    head.ended('2#1');
    head.submit({ cpuCount: 1, walltimeMs: 2 * HOUR });
    assert.deepEqual(cycle(head), []);
    head.ended('3#1');
    assert.deepEqual(cycle(head), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[P13] a task that ends before there is room for a stopped one starts, and nothing on its drained node',
  (head) => {
    stoppedForTwo(head);
    drain(head, N1);
    head.ended('2#1');
    const short = head.submit({ cpuCount: 1, walltimeMs: 30 * MINUTE });
    const there = head.submit({ cpuCount: 1, walltimeMs: MINUTE, nodeNames: [N1] });
    assert.deepEqual(cycle(head), [`${short}`]);
    head.command({ kind: 'undrain_node', node: N1 });
    assert.deepEqual(cycle(head), [`${there}`]);
  },
  STOPPING,
);

scenario(
  '[P13] of two stopped tasks on a drained node one goes on where there is room for one',
  (head) => {
    head.connect(N1, { cpus: 2 });
    const low = { cpuCount: 1, walltimeMs: 10 * HOUR };
    for (const id of [1, 2]) assert.equal(head.running(low), id);
    head.at += MINUTE;
    const two: string[] = [];
    for (const stops of ['2#1', '1#1']) {
      const id = urgent(head, 1, [N1]);
      assert.deepEqual(cycle(head), ['suspend_asked']);
      head.suspended(stops);
      assert.deepEqual(cycle(head), [id]);
      head.started(`${id}#1`);
      two.push(id);
    }
    drain(head, N1);
    head.ended(`${two[0]}#1`);
    const { events } = head.perform({ kind: 'schedule' });
    assert.deepEqual(kinds(events), ['resume_asked']);
    assert.equal(events[0]?.kind === 'resume_asked' && events[0].place.jobId, 1);
    const small = head.submit({ cpuCount: 1 });
    head.resumed('1#1');
    head.ended('1#1');
    assert.deepEqual(cycle(head), ['resume_asked'], `not job ${small}`);
  },
  STOPPING,
);

scenario(
  '[P13] a task whose nodes are all drained goes on, and into no maintenance of one of them',
  (head) => {
    wide(head);
    const id = urgent(head, 2, [N1, N2]);
    assert.deepEqual(cycle(head), ['suspend_asked']);
    head.suspended('1#1');
    assert.deepEqual(cycle(head), [id]);
    head.started(`${id}#1`);
    for (const name of [N1, N2]) drain(head, name);
    planned(head, { time: { kind: 'fixed', from: head.at + 2 * HOUR }, nodes: [N1] });
    head.at += HOUR;
    head.ended(`${id}#1`);
    assert.deepEqual(cycle(head), []);
    head.tick(HOUR);
    assert.deepEqual(cycle(head), []);
    head.tick(HOUR);
    assert.deepEqual(cycle(head), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[P13] what is set aside of the drained node of a stopped task keeps it from going on',
  (head) => {
    stoppedForTwo(head);
    drain(head, N1);
    const at = head.at + 2 * HOUR;
    head.command(reserve({ at, nodes: ['n1'], force: true }), OPERATOR);
    for (const id of ['2#1', '3#1']) head.ended(id);
    const meanwhile = head.submit({ cpuCount: 2, walltimeMs: HOUR });
    assert.deepEqual(cycle(head), [`${meanwhile}`]);
  },
  STOPPING,
);

scenario(
  '[A13] nobody is promised a slot that a stopped task with a drained node needs',
  (head) => {
    stoppedForTwo(head);
    drain(head, N1);
    head.submit({ cpuCount: 2, walltimeMs: HOUR });
    assert.deepEqual(cycle(head), []);
    const { promised } = plan(snapshotOf(head.state, head.settings, 512, head.at), head.at);
    // Job 2 and 3 have an hour each, the stopped one all of its ten but the first minute.
    assert.deepEqual(
      promised.map(({ at }) => at - head.at),
      [HOUR + 10 * HOUR - MINUTE],
    );
  },
  stopping('easy'),
);

/** Job 1 is stopped; two hours after the first instant n1 is in maintenance for one hour. */
function inMaintenance(head: TestHead): void {
  wide(head);
  const id = urgent(head, 2, [N1, N2]);
  assert.deepEqual(cycle(head), ['suspend_asked']);
  head.suspended('1#1');
  assert.deepEqual(cycle(head), [id]);
  head.started(`${id}#1`);
  planned(head, { time: { kind: 'fixed', from: START_AT + 2 * HOUR }, nodes: [N1] });
  head.at = START_AT + 2 * HOUR - MINUTE;
  head.ended(`${id}#1`);
  assert.deepEqual(cycle(head), []);
  head.tick(MINUTE);
  assert.deepEqual(cycle(head), []);
}

scenario(
  '[P13] a task stopped on a node in maintenance keeps its room on the others from the end of that on',
  (head) => {
    inMaintenance(head);
    head.submit({ cpuCount: 2, walltimeMs: 2 * HOUR });
    const short = head.submit({ cpuCount: 2, walltimeMs: HOUR });
    assert.deepEqual(cycle(head), [`${short}`]);
    head.started(`${short}#1`);
    head.tick(HOUR);
    head.ended(`${short}#1`);
    assert.deepEqual(cycle(head), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[A13, A23] what a task stopped on a node in maintenance will have is neither promised nor foretold',
  (head) => {
    inMaintenance(head);
    const id = head.submit({ cpuCount: 2, walltimeMs: 2 * HOUR });
    assert.deepEqual(cycle(head), []);
    const { promised } = plan(snapshotOf(head.state, head.settings, 512, head.at), head.at);
    const pending = pendingOf(head.job(id), 0);
    const { prospect } = lookAhead(head.state, head.settings, pending, head.at);
    // It has ten hours less a minute left when the maintenance is over.
    const free = START_AT + 13 * HOUR - MINUTE;
    assert.deepEqual([promised[0]?.at, prospect?.forecast?.at], [free, free]);
  },
  stopping('easy'),
);

scenario(
  '[R3] what a stopped task on many nodes is in the way of is worked out once, not on each of them',
  (head) => {
    const count = 50;
    const names = Array.from({ length: count }, (_, at) => `m${at}` as NodeName);
    for (const name of names) head.connect(name, { cpus: 2 });
    head.running({ cpuCount: 2, nodeCount: count, walltimeMs: 30 * HOUR });
    urgent(head, 2, [names[0] as NodeName]);
    assert.deepEqual(cycle(head), ['suspend_asked']);
    head.suspended('1#1');
    let looks = 0;
    const times = Array.from({ length: 7 }, (_, day) => {
      const to = START_AT + (24 * day + 41) * HOUR;
      const from = to - HOUR;
      return Object.defineProperty({ from, to }, 'from', {
        get: () => {
          looks += 1;
          return from;
        },
      });
    });
    const windowsOn = new Map(names.map((name) => [name, times as unknown as Window[]]));
    const coming = { times, windowsOn, judged: new Map() };
    for (const name of names) {
      const { running, free } = viewWithStopped(head.node(name), coming, head.at);
      assert.equal(free.cpuCount, 0);
      assert.equal([...running].length, 1);
    }
    // Twice seven are sorted and gone through, once; all of each node it would be 700 at least.
    assert.ok(looks > 0 && looks < 150, `${looks} looks`);
  },
  STOPPING,
);

scenario(
  '[P13] a node that missed that its part went on has given up its cpus when it is stopped again',
  (head) => {
    wide(head);
    const first = urgent(head);
    assert.deepEqual(cycle(head), ['suspend_asked']);
    head.suspended('1#1');
    assert.deepEqual(cycle(head), [first]);
    head.started(`${first}#1`);
    head.disconnect(N1);
    head.ended(`${first}#1`);
    assert.deepEqual(cycle(head), ['resume_asked']);
    head.resumed('1#1', N2);
    const second = urgent(head);
    assert.deepEqual(cycle(head), ['suspend_asked']);
    head.suspended('1#1', N2);
    assert.deepEqual(cycle(head), [second]);
    head.started(`${second}#1`);
    head.connect(N1, { cpus: 2, held: head.heldBy(N1) });
    head.ended(`${second}#1`);
    assert.deepEqual(cycle(head), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[P13] a task that a silent node holds up keeps its other nodes from nobody who ends before it',
  (head) => {
    for (const name of [N1, N2]) head.connect(name, { cpus: 2 });
    const onNodeLoss = { kind: 'wait' } as const;
    head.running({ cpuCount: 2, nodeCount: 2, walltimeMs: 10 * HOUR, onNodeLoss });
    head.at += MINUTE;
    head.disconnect(N1);
    const first = urgent(head);
    assert.deepEqual(cycle(head), ['suspend_asked']);
    head.suspended('1#1', N2);
    assert.deepEqual(cycle(head), [first]);
    head.started(`${first}#1`);
    head.ended(`${first}#1`);
    const short = head.submit({ cpuCount: 2, walltimeMs: MINUTE });
    assert.deepEqual(cycle(head), [`${short}`]);
  },
  STOPPING,
);

scenario(
  '[P13] a task beside what recurs does not go on where the higher tier that it stopped for still waits',
  (head) => {
    for (const name of [N1, N2]) head.connect(name, { cpus: 4 });
    head.running({ cpuCount: 3, walltimeMs: 5 * HOUR, nodeNames: [N1] });
    head.running({ cpuCount: 4, walltimeMs: 9 * HOUR, nodeNames: [N2], nice: -1 });
    head.at += MINUTE;
    const starts = [1, 4, 7, 10].map((hour) => head.at + hour * HOUR);
    const recurrence = { cron: '0 */3 * * *', zone: 'UTC', starts };
    const often = { at: starts[0] as number, nodes: [N1], share: { cpus: 1 }, recurrence };
    head.command(reserve({ ...often, force: true }), OPERATOR);
    head.command({ kind: 'cancel_task', place: place('2') });
    head.submit({ partition: 'urgent', nodeCount: 2, cpuCount: 1 }, { by: BOB });
    const seen = [cycle(head)];
    head.suspended('1#1');
    for (let look = 0; look < 5; look += 1) seen.push(cycle(head));
    assert.deepEqual(seen.flat(), ['suspend_asked']);
  },
  STOPPING,
);

scenario(
  '[P13] a task is not held by the maintenance of a node on which its part has ended',
  (head) => {
    stoppedForTwo(head);
    planned(head, { time: { kind: 'now' } });
    head.ended('1#1', {}, N1);
    head.ended('2#1');
    head.ended('3#1');
    assert.deepEqual(cycle(head), ['resume_asked']);
  },
  STOPPING,
);
