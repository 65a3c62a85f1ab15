// Tasks that were stopped to make room, beside what is set aside: when they go on, and when they
// are in the way of a reservation.

import assert from 'node:assert/strict';
import { isCycleDue, snapshotOf } from '../../../../src/kernel/machine/schedule.ts';
import type { EpochId } from '../../../../src/kernel/model/ids.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import {
  BOB,
  kinds,
  OPERATOR,
  START_AT,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { planned } from '../../../support/maintenance.ts';
import { stopping } from '../../../support/preemption.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

const STOPPING = stopping('first_fit');

/** Job 1 has run for so long when it is stopped for job 2, which runs. */
function stopped(head: TestHead, wish: Partial<Submission>, ranMs: number): void {
  head.connect('n1', { cpus: 2 });
  head.running({ cpuCount: 2, ...wish });
  head.at += ranMs;
  head.submit({ partition: 'urgent', cpuCount: 2, walltimeMs: HOUR }, { by: BOB });
  assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['suspend_asked']);
  head.suspended('1#1');
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  head.started('2#1');
}

/** What a cycle does when job 2 has ended. */
function roomAgain(head: TestHead): string[] {
  head.ended('2#1');
  return kinds(head.perform({ kind: 'schedule' }).events);
}

scenario(
  '[P13] a stopped task needs only the rest of its time before what is set aside',
  (head) => {
    stopped(head, { walltimeMs: HOUR }, 50 * MINUTE);
    const at = START_AT + 3 * HOUR;
    head.command(reserve({ at, nodes: ['n1'], force: true }), OPERATOR);
    head.at = at - 10 * MINUTE;
    assert.deepEqual(roomAgain(head), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[P13] a stopped task that would run into what is set aside goes on after it',
  (head) => {
    stopped(head, { walltimeMs: HOUR }, 50 * MINUTE);
    const at = START_AT + 3 * HOUR;
    head.command(reserve({ at, nodes: ['n1'], force: true }), OPERATOR);
    head.at = at - 10 * MINUTE + 1;
    assert.deepEqual(roomAgain(head), []);
    head.tick(2 * HOUR);
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[P13] a stopped task without time limit waits for the end of what is set aside, as at a start',
  (head) => {
    stopped(head, {}, MINUTE);
    const at = START_AT + 3 * HOUR;
    head.command(reserve({ at, nodes: ['n1'], force: true }), OPERATOR);
    assert.deepEqual(roomAgain(head), []);
    head.tick(4 * HOUR);
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['resume_asked']);
  },
  STOPPING,
);

/** Every day of a week, from so many hours after the start on. */
function daily(hours: number) {
  const starts = Array.from({ length: 7 }, (_, day) => START_AT + (hours + 24 * day) * HOUR);
  return { cron: '0 9 * * *', zone: 'UTC', starts };
}

/** When job 1 goes on, in hours after the start, after job 2 has ended; null: not in three days. */
function goesOnAt(head: TestHead): number | null {
  while (head.at < START_AT + 72 * HOUR) {
    const { events } = head.once({ kind: 'schedule' });
    if (kinds(events).includes('resume_asked')) return (head.at - START_AT) / HOUR;
    head.tick(HOUR / 2);
  }
  return null;
}

/** Beside an hour of every day, the first in three hours: what is left, and when it goes on. */
const LEFT = [
  { wish: {}, title: 'has no time limit', roomAt: 1, goesOn: 1 },
  { wish: {}, title: 'has no time limit', roomAt: 3.5, goesOn: 4 },
  { wish: { walltimeMs: 30 * HOUR }, title: 'may take 30 hours', roomAt: 1, goesOn: 1 },
  { wish: { walltimeMs: 30 * HOUR }, title: 'may take 30 hours', roomAt: 3.5, goesOn: 4 },
  { wish: { walltimeMs: 20 * HOUR }, title: 'may take 20 hours', roomAt: 1, goesOn: 4 },
  { wish: { walltimeMs: 20 * HOUR }, title: 'may take 20 hours', roomAt: 7.5, goesOn: 28 },
  { wish: { walltimeMs: 2 * HOUR }, title: 'may take 2 hours', roomAt: 1, goesOn: 1 },
];

for (const { wish, title, roomAt, goesOn } of LEFT) {
  scenario(
    `[P13] a stopped task that ${title} goes on ${goesOn} h from now beside daily hours, with room from ${roomAt} h on`,
    (head) => {
      stopped(head, wish, 0);
      head.command(reserve({ recurrence: daily(3), nodes: ['n1'], force: true }), OPERATOR);
      head.tick(roomAt * HOUR);
      head.ended('2#1');
      assert.equal(goesOnAt(head), goesOn);
    },
    STOPPING,
  );
}

for (const walltimeMs of [null, 30 * HOUR]) {
  const limit = walltimeMs === null ? 'no limit' : 'a limit of 30 h';
  scenario(
    `[P13] a stopped task with ${limit} waits for a maintenance, whatever recurs on its node`,
    (head) => {
      stopped(head, { walltimeMs }, MINUTE);
      head.command(reserve({ recurrence: daily(72), nodes: ['n1'], force: true }), OPERATOR);
      planned(head, { time: { kind: 'fixed', from: START_AT + 2 * HOUR } });
      head.at = START_AT + 2 * HOUR - MINUTE;
      assert.deepEqual(roomAgain(head), []);
      head.tick(2 * MINUTE);
      head.tick(HOUR);
      assert.deepEqual(kinds(head.once({ kind: 'schedule' }).events), ['resume_asked']);
    },
    STOPPING,
  );
}

scenario(
  '[P13] on a drained node a stopped task heeds what is set aside, and goes on when it is over',
  (head) => {
    stopped(head, { walltimeMs: 30 * HOUR }, MINUTE);
    head.command(reserve({ at: START_AT + 3 * HOUR, nodes: ['n1'], force: true }), OPERATOR);
    head.command({ kind: 'drain_node', node: head.node('n1').name, reason: 'fan' });
    head.tick(HOUR);
    assert.deepEqual(roomAgain(head), []);
    head.tick(3 * HOUR);
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[P13] cpus that are free again on a drained node make a cycle due for the stopped task there',
  (head) => {
    stopped(head, { walltimeMs: HOUR }, MINUTE);
    head.command({ kind: 'drain_node', node: head.node('n1').name, reason: 'fan' });
    head.schedule();
    assert.equal(isCycleDue(head.state), false);
    head.ended('2#1');
    assert.equal(isCycleDue(head.state), true);
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[A13] nobody is promised what a stopped task without time limit will have for ever',
  (head) => {
    stopped(head, {}, MINUTE);
    head.command(reserve({ recurrence: daily(72), nodes: ['n1'], force: true }), OPERATOR);
    head.submit({ cpuCount: 2, walltimeMs: HOUR });
    assert.deepEqual(head.schedule(), []);
    const { promised } = plan(snapshotOf(head.state, head.settings, 512, head.at), head.at);
    assert.deepEqual(promised, []);
  },
  stopping('easy'),
);

scenario(
  '[A13] a stopped task does not go on where a higher tier was promised a start',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running();
    head.submit({ partition: 'urgent', cpuCount: 2, walltimeMs: HOUR }, { by: BOB });
    head.perform({ kind: 'schedule' });
    head.suspended('1#1');
    assert.deepEqual(head.schedule(), ['2#1@n1']);
    head.started('2#1');
    head.command(reserve({ recurrence: daily(72), nodes: ['n1'], force: true }), OPERATOR);
    // Not on the node that is left, where it would keep the wide one waiting for ever.
    head.connect('n2', { cpus: 2 });
    head.running({
      partition: 'urgent',
      cpuCount: 2,
      walltimeMs: HOUR,
      nodeNames: [head.node('n2').name],
    });
    head.submit({ partition: 'urgent', cpuCount: 2, nodeCount: 2, walltimeMs: HOUR });
    head.tick(MINUTE);
    assert.deepEqual(roomAgain(head), []);
    head.ended('3#1');
    assert.deepEqual(head.schedule(), ['4#1@n1+n2']);
  },
  stopping('easy'),
);

const CPU = { cpus: 1 };

scenario(
  '[R3] cpus that a stopped task without time limit gave are not set aside without force',
  (head) => {
    stopped(head, {}, MINUTE);
    head.ended('2#1');
    const recurring = { recurrence: daily(3), nodes: ['n1'], share: CPU };
    assert.equal(head.refused(reserve(recurring)), 'reservation.busy');
    const once = { at: START_AT + 3 * HOUR, nodes: ['n1'], share: CPU };
    assert.equal(head.refused(reserve(once)), 'reservation.busy');
    head.command(reserve({ ...recurring, force: true }));
  },
  STOPPING,
);

scenario(
  '[R3] nor those of one whose time limit is longer than it takes to recur; what comes once it waits for',
  (head) => {
    stopped(head, { walltimeMs: 30 * HOUR }, MINUTE);
    const recurring = { recurrence: daily(40), nodes: ['n1'] };
    assert.equal(head.refused(reserve({ ...recurring, share: CPU })), 'reservation.busy');
    assert.equal(head.refused(reserve(recurring)), 'reservation.busy');
    head.command(reserve({ at: START_AT + 40 * HOUR, nodes: ['n1'], share: CPU }));
  },
  STOPPING,
);

for (const { walltimeMs, words } of [
  { walltimeMs: 30 * HOUR, words: 'at any time: it was preempted, and' },
  { walltimeMs: null, words: 'for ever: it has no time limit' },
]) {
  scenario(
    `[R3] a refusal says of the stopped task in the way: ${words}`,
    (head) => {
      stopped(head, { walltimeMs }, MINUTE);
      head.ended('2#1');
      const command = reserve({ recurrence: daily(40), nodes: ['n1'], share: CPU });
      const { result } = head.perform({ kind: 'command', command, actor: OPERATOR });
      assert.ok(!result.ok && result.error.details.until?.startsWith(words));
    },
    STOPPING,
  );
}

scenario(
  '[R3] nor those that only another recurring reservation leaves no time for; in shorter ones it fits',
  (head) => {
    stopped(head, { walltimeMs: 20 * HOUR }, MINUTE);
    head.command(reserve({ recurrence: daily(40), nodes: ['n1'], share: CPU }));
    const between = { recurrence: daily(52), nodes: ['n1'], share: CPU };
    assert.equal(head.refused(reserve(between)), 'reservation.busy');
  },
  STOPPING,
);

scenario(
  '[R3] cpus of a task that was told to stop are not free for what recurs, before and after it says so',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    head.submit({ partition: 'urgent', cpuCount: 2, walltimeMs: HOUR }, { by: BOB });
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['suspend_asked']);
    const wish = reserve({ recurrence: daily(3), nodes: ['n1'], share: CPU });
    assert.equal(head.refused(wish), 'reservation.busy');
    head.suspended('1#1');
    assert.equal(head.refused(wish), 'reservation.busy');
  },
  STOPPING,
);

scenario(
  '[P13] a stopped task that is given up with its node has its cpus again there, to be ended',
  (head) => {
    stopped(head, { onNodeLoss: { kind: 'requeue' } }, MINUTE);
    head.disconnect('n1');
    head.silence('n1', 15_000);
    assert.deepEqual(head.holders('1#1'), ['n1'], 'its claim stays');
    assert.equal(head.task('1').state, 'pending');
    assert.equal(head.node('n1').holding.get('1#1' as EpochId)?.yieldedCpus, 0);
  },
  STOPPING,
);
