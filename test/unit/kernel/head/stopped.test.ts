// What is said of a task that was stopped to make room.

import assert from 'node:assert/strict';
import {
  jobNotice,
  jobTrouble,
  taskNotice,
} from '../../../../src/kernel/head/answers/task-notice.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import {
  ANN,
  BOB,
  OPERATOR,
  place,
  SETTINGS,
  scenario,
  type TestHead,
} from '../../../support/controller.ts';
import { planned } from '../../../support/maintenance.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

const partitions = {
  default: { ...plainPartition('default'), preempt: 'suspend' as const },
  urgent: { ...plainPartition('urgent'), tier: 1 },
};
const STOPPING = {
  ...SETTINGS,
  scheduling: { ...plainScheduling('first_fit'), partitions },
};

function notice(head: TestHead, task: string): string | null {
  return taskNotice(
    { state: head.state, settings: head.settings, now: () => head.at },
    head.task(task),
  );
}

function stopFor(head: TestHead, epoch: string): void {
  const id = head.submit({ partition: 'urgent', cpuCount: 2 }, { by: BOB });
  head.perform({ kind: 'schedule' });
  head.suspended(epoch);
  assert.equal(head.schedule().length, 1);
  head.started(`${id}#1`);
}

scenario(
  '[J22] a stopped task says for whom, and what it waits for',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2, walltimeMs: HOUR });
    assert.equal(notice(head, '1'), null);
    stopFor(head, '1#1');
    const because = 'It was preempted by 2 of bob.';
    const room = 'It resumes when n1 has 2 cpus free (0 now; used by job 2).';
    assert.equal(notice(head, '1'), `${because} ${room}`);
    const at = head.at + 30 * MINUTE;
    head.command(reserve({ at, nodes: ['n1'], name: 'course', force: true }), OPERATOR);
    head.ended('2#1');
    const window = 'it could run into reservation course on n1, which starts in 30m';
    assert.equal(notice(head, '1'), `${because} There is room, but ${window}.`);
    head.command({ kind: 'cancel_task', place: place('1') }, ANN);
    assert.equal(notice(head, '1'), null, 'it does not go on any more');
  },
  STOPPING,
);

scenario(
  '[J22] a stopped task names what it waits for of all that is set aside, on a drained node too',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.running({ cpuCount: 2 });
    stopFor(head, '1#1');
    const starts = [3, 27, 51].map((hours) => head.at + hours * HOUR);
    const recurrence = { cron: '0 9 * * *', zone: 'UTC', starts };
    head.command(reserve({ recurrence, nodes: ['n1'], force: true }), OPERATOR);
    head.ended('2#1');
    const because = 'It was preempted by 2 of bob. There is room';
    const soon = `${because}: it resumes unless a higher tier takes that.`;
    assert.equal(notice(head, '1'), soon, 'of these hours there will be no end');
    const at = head.at + 6 * HOUR;
    head.command(reserve({ at, nodes: ['n1'], name: 'course', force: true }), OPERATOR);
    const window =
      'it has no time limit and could run into reservation course on n1, which starts in 6h';
    assert.equal(notice(head, '1'), `${because}, but ${window}.`);
    head.command({ kind: 'drain_node', node: head.node('n1').name, reason: 'fan' });
    assert.equal(notice(head, '1'), `${because}, but ${window}.`);
  },
  STOPPING,
);

scenario(
  '[J22] a stopped task of an array is named',
  (head) => {
    head.connect('n1', { cpus: 2 });
    head.submit({ array: { indices: '7' }, cpuCount: 2 });
    head.schedule();
    head.started('1[7]#1');
    stopFor(head, '1[7]#1');
    assert.match(notice(head, '1[7]') ?? '', /^Task 1\[7\] was preempted by 2 of bob\. /);
  },
  STOPPING,
);

scenario('[J22] a suspended task says who suspended it, and what lets it go on', (head) => {
  head.connect('n1');
  head.running();
  head.command({ kind: 'suspend_task', place: place('1') }, OPERATOR);
  const words = `olga has suspended it: \`weft resume 1\` lets it go on.`;
  assert.equal(notice(head, '1'), words);
  const known = { state: head.state, settings: head.settings, now: () => head.at };
  assert.equal(jobNotice(known, head.job(1)), words);
  assert.equal(jobTrouble(known, head.job(1)), null, 'somebody wants it so');
  head.command({ kind: 'resume_task', place: place('1') }, ANN);
  assert.equal(notice(head, '1'), null);
  const time = { kind: 'now' } as const;
  const id = planned(head, { time, running: 'suspend', nodes: ['n1' as NodeName] });
  const still = `Maintenance ${id} has suspended it; it goes on when that is over.`;
  assert.equal(notice(head, '1'), still);
  head.command({ kind: 'suspend_task', place: place('1') }, ANN);
  assert.match(notice(head, '1') ?? '', /^Maintenance .* over\. ann has suspended it/);
});
