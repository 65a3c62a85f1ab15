// Jobs that wait for other jobs.

import assert from 'node:assert/strict';
import type { JobId } from '../../../../src/kernel/model/ids.ts';
import type { Dependency } from '../../../../src/kernel/model/job.ts';
import { ANN, kinds, place, scenario, type TestHead } from '../../../support/controller.ts';
import { why } from '../../../support/why.ts';

function after(head: TestHead, jobId: number, condition: Dependency['condition']): JobId {
  return head.submit({ dependencies: [{ jobId: jobId as JobId, condition }] });
}

scenario('[J9] each condition lets its job start only after the right outcome', (head) => {
  head.connect('n1');
  for (const code of [0, 1]) {
    const first = head.submit();
    const onOk = after(head, first, 'ok');
    const onAny = after(head, first, 'any');
    const onFail = after(head, first, 'fail');
    assert.deepEqual(head.schedule(), [`${first}#1@n1`]);
    head.ended(`${first}#1`, { code });
    const [met, broken] = code === 0 ? [onOk, onFail] : [onFail, onOk];
    const starts = [met, onAny].sort((a, b) => a - b).map((id) => `${id}#1@n1`);
    assert.deepEqual(head.schedule(), starts);
    assert.equal(head.outcome(broken), 'cancelled');
    assert.match(head.job(broken).outcome?.detail ?? '', new RegExp(`waited for job ${first} `));
    for (const id of [met, onAny]) head.ended(`${id}#1`);
  }
});

scenario('[S10] a job waits for all of its dependencies', (head) => {
  head.connect('n1', { cpus: 2 });
  head.submit();
  head.submit({ array: { indices: '0-1' } });
  const id = head.submit({
    dependencies: [
      { jobId: 1 as JobId, condition: 'ok' },
      { jobId: 2 as JobId, condition: 'any' },
    ],
  });
  head.schedule();
  head.ended('1#1');
  head.schedule();
  head.ended('2[0]#1', { code: 3 });
  assert.deepEqual(head.schedule(), [], 'one task of the array still runs');
  head.ended('2[1]#1');
  assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
});

scenario('[J10] a broken dependency ends the whole chain behind it', (head) => {
  head.connect('n1');
  head.submit();
  after(head, 1, 'ok');
  after(head, 2, 'ok');
  after(head, 3, 'fail');
  head.schedule();
  head.ended('1#1', { code: 1 });
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => head.outcome(id)),
    ['failed', 'cancelled', 'cancelled', null],
  );
  assert.deepEqual(head.schedule(), ['4#1@n1'], 'its wish came true');
});

scenario('[J10] a chain of ten thousand jobs ends in one step', (head) => {
  head.connect('n1');
  head.submit({ held: true });
  const length = 10_000;
  for (let id = 1; id < length; id += 1) {
    const dependencies = [{ jobId: id as JobId, condition: 'ok' }] as const;
    // Not through the fixture: its checks after every step would make this quadratic.
    head.quietly(
      {
        kind: 'submit_job',
        key: null,
        retired: {},
        submission: { program: { kind: 'argv', argv: ['x'] }, dependencies },
      },
      ANN,
    );
  }
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  assert.equal(head.outcome(length), 'cancelled');
});

scenario('[J10] a job whose dependency is broken already ends as it is accepted', (head) => {
  head.connect('n1');
  head.submit();
  head.schedule();
  head.ended('1#1');
  const id = after(head, 1, 'fail');
  assert.equal(head.outcome(id), 'cancelled');
  assert.equal(head.state.indexes.beginning.size, 0);
  assert.deepEqual(head.schedule(), []);
});

scenario('[J9] outcomes of jobs that have left memory count as before', (head) => {
  head.connect('n1');
  const dependencies = [{ jobId: 77 as JobId, condition: 'ok' }] as const;
  const met = head.submit(
    { dependencies },
    { retired: { 77: { kind: 'completed', indices: null } } },
  );
  const broken = head.submit(
    { dependencies },
    { retired: { 77: { kind: 'timeout', indices: null } } },
  );
  assert.deepEqual(head.schedule(), [`${met}#1@n1`]);
  assert.equal(head.outcome(broken), 'cancelled');
});

scenario('[J10] cancelling a job that waits forgets that it waited', (head) => {
  head.connect('n1');
  head.submit();
  const id = after(head, 1, 'ok');
  head.command({ kind: 'cancel_task', place: place(`${id}`) }, ANN);
  assert.equal(head.state.indexes.dependents.size, 0);
  head.schedule();
  assert.deepEqual(kinds(head.ended('1#1')), ['part_ended', 'task_done', 'job_done']);
});

function afterStart(head: TestHead, jobId: number, delayMs?: number): JobId {
  const start = { jobId: jobId as JobId, condition: 'start' } as const;
  return head.submit({ dependencies: [delayMs === undefined ? start : { ...start, delayMs }] });
}

scenario('[J9] one waits for the start of another, and some time after it', (head) => {
  head.connect('n1', { cpus: 4 });
  const first = head.submit({ held: true });
  const next = afterStart(head, first);
  const later = afterStart(head, first, 60_000);
  head.tick(120_000);
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, later), /waits for job 1 to start, and then for 1m; job 1 is held/);
  head.command({ kind: 'release_job', jobId: first }, ANN);
  assert.deepEqual(head.schedule(), [`${first}#1@n1`]);
  head.started(`${first}#1`);
  head.tick();
  assert.deepEqual(head.schedule(), [`${next}#1@n1`]);
  // Its end changes nothing: the time counts from its start.
  head.ended(`${first}#1`, { code: 1 });
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, later), /waits for 20\S+Z, 1m after the start of job 1$/);
  head.tick(59_000);
  assert.deepEqual(head.schedule(), []);
  head.tick(1_000);
  assert.deepEqual(head.schedule(), [`${later}#1@n1`]);
  assert.equal(head.state.indexes.following.size, 0);
  assert.deepEqual(head.schedule(), []);
});

scenario('[J9] what was cancelled before its start is no longer waited for', (head) => {
  head.connect('n1', { cpus: 4 });
  const first = head.submit({ held: true });
  const next = afterStart(head, first);
  head.command({ kind: 'cancel_task', place: place(String(first)) }, ANN);
  assert.deepEqual(head.schedule(), [`${next}#1@n1`]);
});

scenario('[J9] one that is to be alone by its name waits for all older ones of it', (head) => {
  head.connect('n1', { cpus: 8 });
  const named = (more: object = {}) => head.submit({ name: 'chain', ...more });
  const ids = [named(), named({ singleton: true }), named({ singleton: true })];
  const [first, second, third] = ids as [JobId, JobId, JobId];
  const other = head.submit({ name: 'other', singleton: true });
  assert.deepEqual(head.schedule(), [`${first}#1@n1`, `${other}#1@n1`]);
  // The one between them goes: the first is still waited for.
  head.command({ kind: 'cancel_task', place: place(String(second)) }, ANN);
  assert.deepEqual(head.schedule(), []);
  head.ended(`${first}#1`, { code: 1 });
  assert.deepEqual(head.schedule(), [`${third}#1@n1`]);
});
