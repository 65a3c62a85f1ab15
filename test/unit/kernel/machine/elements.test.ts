// Tasks of an array that wait for the task of another array with their index.

import assert from 'node:assert/strict';
import { taskCounts } from '../../../../src/kernel/head/answers/job-state.ts';
import { explainPending, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import type { JobId } from '../../../../src/kernel/model/ids.ts';
import type { Dependency, OutcomeKind } from '../../../../src/kernel/model/job.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import {
  ANN,
  kinds,
  place,
  scenario,
  submission,
  type TestHead,
} from '../../../support/controller.ts';

const each = (jobId: number): Dependency => ({ jobId: jobId as JobId, condition: 'each' });

/** An array with these indices, behind those jobs index by index. */
function array(head: TestHead, indices: string, ...behind: number[]): JobId {
  return head.submit({ array: { indices }, dependencies: behind.map(each) });
}

function refused(head: TestHead, wish: Partial<Submission>): string {
  return head.refused(submission(wish), ANN);
}

scenario('[J28] each task starts after the task with its index, whatever the others do', (head) => {
  head.connect('n1', { cpus: 3 });
  const first = array(head, '0-2');
  const second = array(head, '0-2', first);
  assert.deepEqual(
    head.schedule(),
    [0, 1, 2].map((index) => `${first}[${index}]#1@n1`),
  );
  assert.deepEqual(taskCounts(head.job(second)), { pending: 3 });
  assert.deepEqual(kinds(head.ended(`${first}[1]#1`)), ['part_ended', 'task_done', 'element_met']);
  assert.deepEqual(head.schedule(), [`${second}[1]#1@n1`]);
  const pending = pendingOf(head.job(second), 2);
  const reason = explainPending(head.state, head.settings, pending, head.at);
  assert.deepEqual(reason, { kind: 'dependency', arrays: [first], index: 2 });
  const held = head.heldBy('n1');
  head.crash();
  head.connect('n1', { cpus: 3, held });
  head.ended(`${second}[1]#1`);
  head.ended(`${first}[0]#1`);
  head.ended(`${first}[2]#1`);
  assert.deepEqual(head.schedule(), [`${second}[0]#1@n1`, `${second}[2]#1@n1`]);
  head.ended(`${second}[0]#1`);
  head.ended(`${second}[2]#1`);
  assert.deepEqual([head.outcome(first), head.outcome(second)], ['completed', 'completed']);
  assert.equal(head.state.indexes.dependents.size, 0);
});

scenario('[J28] a task that fails ends those behind it, and only those, down the chain', (head) => {
  head.connect('n1', { cpus: 2 });
  const first = array(head, '0-1');
  const second = array(head, '0-1', first);
  const third = array(head, '0-1', second);
  head.schedule();
  head.ended(`${first}[0]#1`, { code: 3 });
  for (const id of [second, third]) {
    assert.deepEqual([...(head.job(id).ended.get('cancelled') ?? [])], [0], `job ${id}`);
    assert.equal(head.outcome(id), null);
  }
  head.ended(`${first}[1]#1`);
  assert.deepEqual(head.schedule(), [`${second}[1]#1@n1`]);
  head.ended(`${second}[1]#1`);
  assert.deepEqual(head.schedule(), [`${third}[1]#1@n1`]);
  head.ended(`${third}[1]#1`);
  assert.equal(head.outcome(third), 'cancelled');
  assert.match(head.job(third).outcome?.detail ?? '', new RegExp(`its task of job ${second} `));
});

scenario('[J28] what has ended before the submission counts, good or bad', (head) => {
  head.connect('n1', { cpus: 4 });
  const first = array(head, '0-3');
  head.schedule();
  head.ended(`${first}[0]#1`);
  head.ended(`${first}[1]#1`, { code: 1 });
  const second = array(head, '0-3', first);
  assert.deepEqual([...(head.job(second).ended.get('cancelled') ?? [])], [1]);
  assert.deepEqual(head.schedule(), [`${second}[0]#1@n1`]);
  head.ended(`${first}[2]#1`);
  head.ended(`${first}[3]#1`);
  const third = array(head, '0-3', first);
  assert.equal(head.job(third).behind.size, 0);
  head.ended(`${second}[0]#1`);
});

scenario('[J28] of two arrays a task waits for both, and beside them for whole jobs', (head) => {
  head.connect('n1', { cpus: 6 });
  const [a, b] = [array(head, '0-1'), array(head, '0-1')];
  const whole = head.submit();
  const dependencies = [each(a), each(b), { jobId: whole, condition: 'ok' as const }];
  const id = head.submit({ array: { indices: '0-1' }, dependencies });
  head.schedule();
  head.ended(`${a}[0]#1`);
  head.ended(`${b}[0]#1`);
  assert.deepEqual(head.schedule(), [], 'the whole job still runs');
  head.ended(`${whole}#1`);
  assert.deepEqual(head.schedule(), [`${id}[0]#1@n1`]);
  head.ended(`${a}[1]#1`);
  assert.deepEqual(head.schedule(), []);
  head.ended(`${b}[1]#1`, { code: 1 });
  head.ended(`${id}[0]#1`);
  assert.equal(head.outcome(id), 'cancelled');
});

scenario('[J28] cancelling, a broken job and a hold reach tasks that wait so', (head) => {
  head.connect('n1', { cpus: 4 });
  const first = array(head, '0-2');
  const second = array(head, '0-2', first);
  head.schedule();
  head.command({ kind: 'cancel_task', place: place(`${second}[1]`) }, ANN);
  assert.deepEqual([...(head.job(second).ended.get('cancelled') ?? [])], [1]);
  head.ended(`${first}[1]#1`);
  assert.deepEqual(head.schedule(), [], 'its successor is cancelled');
  head.command({ kind: 'hold_job', jobId: second }, ANN);
  head.ended(`${first}[0]#1`);
  assert.deepEqual(head.schedule(), []);
  head.command({ kind: 'release_job', jobId: second }, ANN);
  assert.deepEqual(head.schedule(), [`${second}[0]#1@n1`]);
  const broken = head.submit({ held: true });
  const dependencies = [each(first), { jobId: broken, condition: 'ok' as const }];
  const third = head.submit({ array: { indices: '0-2' }, dependencies });
  head.command({ kind: 'cancel_task', place: place(`${broken}`) }, ANN);
  assert.equal(head.outcome(third), 'cancelled');
  head.command({ kind: 'cancel_task', place: place(`${first}`) }, ANN);
  head.ended(`${first}[2]#1`, { cause: 'ended' });
  assert.deepEqual([...(head.job(second).ended.get('cancelled') ?? [])], [1, 2]);
  head.ended(`${second}[0]#1`);
});

scenario('[J28] both are arrays with the same indices', (head) => {
  head.connect('n1');
  const [first, plain] = [array(head, '0-2'), head.submit()];
  assert.equal(refused(head, { dependencies: [each(first)] }), 'argument.invalid');
  for (const [on, indices] of [
    [first, '0-3'],
    [plain, '0-2'],
  ] as const) {
    const wish = { array: { indices }, dependencies: [each(on)] };
    assert.equal(refused(head, wish), 'argument.invalid', indices);
  }
  const wish = { array: { indices: '0-2' }, dependencies: [each(99)] };
  assert.equal(refused(head, wish), 'job.dependency_unknown');
  const retired = (kind: OutcomeKind, indices: string | null) =>
    submission(wish, { retired: { 99: { kind, indices } } });
  assert.equal(head.command(retired('completed', '0-2'), ANN).kind, 'submitted');
  assert.equal(head.refused(retired('failed', '0-2')), 'argument.invalid');
  assert.equal(head.refused(retired('completed', '0-1')), 'argument.invalid');
  assert.equal(head.refused(retired('completed', null)), 'argument.invalid');
});

scenario('[J28] the end of a task costs the same in an array of ten thousand', (head) => {
  head.connect('n1', { cpus: 2 });
  const first = array(head, '0-9999');
  const second = array(head, '0-9999', first);
  for (let index = 0; index < 20; index += 2) {
    const [a, b] = head.schedule();
    assert.deepEqual([a, b], [`${first}[${index}]#1@n1`, `${first}[${index + 1}]#1@n1`]);
    const events = head.ended(`${first}[${index + 1}]#1`);
    assert.deepEqual(kinds(events), ['part_ended', 'task_done', 'element_met']);
    assert.ok(JSON.stringify(events).length < 2000, 'nothing names the whole array');
    head.ended(`${first}[${index}]#1`);
  }
  assert.equal(head.job(second).entry.pending.size, 20);
  head.command({ kind: 'cancel_task', place: place(`${first}`) }, ANN);
  assert.equal(head.job(second).entry.pending.size, 20);
  assert.equal(head.job(second).behind.size, 0);
});
