// What a time limit has left of a task that was stopped and went on, whatever the clocks say.

import assert from 'node:assert/strict';
import type { EpochId } from '../../../../src/kernel/model/ids.ts';
import { ANN, place, START_AT, scenario, type TestHead } from '../../../support/controller.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

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
