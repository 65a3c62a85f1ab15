// Tasks that were stopped to make room: when they go on, and what their time limit has left.

import assert from 'node:assert/strict';
import type { EpochId } from '../../../../src/core/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/core/model/scheduling.ts';
import type { Settings } from '../../../../src/core/model/settings.ts';
import type { Submission } from '../../../../src/core/model/submission.ts';
import {
  ANN,
  BOB,
  kinds,
  OPERATOR,
  place,
  SETTINGS,
  START_AT,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

const STOPPING: Settings = {
  ...SETTINGS,
  scheduling: {
    ...plainScheduling('first_fit'),
    partitions: {
      default: { ...plainPartition('default'), preempt: 'suspend' },
      urgent: { ...plainPartition('urgent'), tier: 1 },
    },
  },
};

/** Job 1 has run for so long when it is stopped for job 2, which runs. */
function stopped(head: TestHead, wish: Partial<Submission>, ranMs: number): void {
  head.connect('n1', { cpus: 2 });
  head.running({ cpuCount: 2, ...wish });
  head.at += ranMs;
  head.submit({ partition: 'urgent', cpuCount: 2 }, { by: BOB });
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

/** Every day of the next week, from in three hours on. */
const DAILY = {
  cron: '0 9 * * *',
  zone: 'UTC',
  starts: Array.from({ length: 7 }, (_, day) => START_AT + (3 + 24 * day) * HOUR),
};

scenario(
  '[P13] a stopped task without time limit goes on between the times of what recurs, not in them',
  (head) => {
    stopped(head, {}, MINUTE);
    head.command(reserve({ recurrence: DAILY, nodes: ['n1'], force: true }), OPERATOR);
    head.at = START_AT + 3.5 * HOUR;
    assert.deepEqual(roomAgain(head), []);
    head.tick(HOUR);
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), ['resume_asked']);
  },
  STOPPING,
);

scenario(
  '[R3] cpus that a stopped task without time limit gave are not set aside without force',
  (head) => {
    stopped(head, {}, MINUTE);
    head.ended('2#1');
    const share = { cpuCount: 1, memoryBytes: 0, gpuCount: 0, counted: {} };
    const wish = reserve({ recurrence: DAILY, nodes: ['n1'] });
    const request = { ...wish.request, perNode: share };
    assert.equal(head.refused({ ...wish, request }), 'reservation.busy');
    head.command({ ...wish, request: { ...request, force: true } });
  },
  STOPPING,
);

/** A node says when it stopped or went on, by its own clock. */
function says(head: TestHead, kind: 'task_suspended' | 'task_resumed', at: number, turn: number) {
  head.report('n1', { kind, epochId: '1#1' as EpochId, at, turn });
}

const CLOCKS = [
  { title: 'that agrees', stopped: 10, went: 60, pausedMs: 50 * MINUTE },
  { title: 'that is a day behind', stopped: 10 - 1440, went: 60 - 1440, pausedMs: 50 * MINUTE },
  // It cannot have stopped later than it said so.
  { title: 'that is a day ahead', stopped: 10 + 1440, went: 60 + 1440, pausedMs: 20 * MINUTE },
  { title: 'that was set back', stopped: 10, went: -1440, pausedMs: 0 },
  { title: 'that was put right', stopped: -14400, went: 60, pausedMs: 60 * MINUTE },
];

for (const { title, stopped: from, went, pausedMs } of CLOCKS) {
  scenario(`[R3] a stop told late counts from when it was, by a clock ${title}`, (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ walltimeMs: HOUR });
    head.command({ kind: 'suspend_task', place: place('1') }, ANN);
    head.tick(40 * MINUTE);
    says(head, 'task_suspended', START_AT + from * MINUTE, 1);
    head.command({ kind: 'resume_task', place: place('1') }, ANN);
    head.tick(20 * MINUTE);
    says(head, 'task_resumed', START_AT + went * MINUTE, 2);
    const at = START_AT + HOUR + pausedMs;
    if (pausedMs > 0) assert.equal(head.refused(reserve({ at: at - 1 })), 'reservation.busy');
    assert.equal(head.command(reserve({ at: Math.max(at, head.at + 1) })).kind, 'reserved');
  });
}

scenario('[R3] the node on which a task stood still longest decides when it is over', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 2 });
  head.running({ walltimeMs: HOUR, nodeCount: 2 });
  head.command({ kind: 'suspend_task', place: place('1') }, ANN);
  head.suspended('1#1', 'n1');
  head.tick(10 * MINUTE);
  head.suspended('1#1', 'n2');
  head.command({ kind: 'resume_task', place: place('1') }, ANN);
  head.resumed('1#1', 'n2');
  head.tick(5 * MINUTE);
  head.resumed('1#1', 'n1');
  const at = START_AT + HOUR + 15 * MINUTE;
  assert.equal(head.refused(reserve({ at: at - 1, count: 2 })), 'reservation.busy');
  assert.equal(head.command(reserve({ at, count: 2 })).kind, 'reserved');
});
