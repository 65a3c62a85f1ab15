// Tasks that were stopped to make room: when they go on, and what their time limit has left.

import assert from 'node:assert/strict';
import { plainPartition, plainScheduling } from '../../../../src/core/model/scheduling.ts';
import type { Settings } from '../../../../src/core/model/settings.ts';
import type { Submission } from '../../../../src/core/model/submission.ts';
import {
  BOB,
  kinds,
  OPERATOR,
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
