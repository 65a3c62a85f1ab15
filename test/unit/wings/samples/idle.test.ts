// Gpus that tasks hold and do not use: what is said, and when a task is ended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { IdleBook, type IdleRule } from '../../../../src/wings/samples/core/idle.ts';
import { IdleGpus } from '../../../../src/wings/samples/head/idle-gpus.ts';
import { LOOK_MS } from '../../../../src/wings/samples/model/look.ts';
import { ANN, place, SETTINGS, TestHead } from '../../../support/controller.ts';

const RULE: IdleRule = { belowPercent: 5, forMs: 60_000, holdAfterMs: null, endAfterMs: null };
const LOG = { debug() {}, info() {}, warn() {}, error() {} };

test('[V18] idle is the time since a part worked last or nobody looked, of all parts', () => {
  const book = new IdleBook();
  const note = (node: string, at: number, milli: number | null, count = 1): void =>
    book.note('1#1', node, at, { milli, count }, RULE);
  const looks = (node: string, from: number, to: number, milli: number): void => {
    for (let at = from; at <= to; at += LOOK_MS) note(node, at, milli);
  };
  looks('n1', 0, 100_000, 0);
  assert.equal(book.idleMs('1#1', ['n1'], 100_000), 100_000);
  assert.equal(book.idleMs('1#1', ['n1', 'n2'], 100_000), 0, 'of n2 nothing is known');
  looks('n2', 50_000, 100_000, 49);
  assert.equal(book.idleMs('1#1', ['n1', 'n2'], 100_000), 50_000, 'all have been since then');
  note('n2', 110_000, 50);
  assert.equal(book.idleMs('1#1', ['n1', 'n2'], 110_000), 0, 'one that works is enough');
  note('n1', 110_000, null);
  assert.equal(book.idleMs('1#1', ['n1'], 110_000), 0, 'what nobody says is not idle');
  looks('n1', 200_000, 260_000, 0);
  note('n1', 400_000, 0);
  assert.equal(
    book.idleMs('1#1', ['n1'], 400_000),
    0,
    'between two looks far apart it may have worked',
  );
  assert.equal(book.idleMs('1#1', ['n1'], 500_000), 0, 'nobody has looked since');
  note('n1', 410_000, 400, 8);
  assert.equal(book.idleMs('1#1', ['n1'], 410_000), 0, 'one of eight that works half of the time');
});

function world(rule: Partial<IdleRule>) {
  const head = new TestHead();
  const gpuIdle = { default: { ...RULE, ...rule } };
  head.settings = { ...SETTINGS, gpuIdle };
  head.connect('n1', { cpus: 4, gpus: 2 });
  const id = head.running({ gpuCount: 2, cpuCount: 1 });
  const idle = new IdleGpus(LOG);
  const known: Parameters<IdleGpus['tick']>[0] = {
    get state() {
      return head.state;
    },
    get settings() {
      return head.settings;
    },
    perform: (input) => void head.perform(input),
  };
  let told = [0, 1];
  const look = (gpuMilli: number | null): string | undefined => {
    head.at += LOOK_MS;
    const use = { epochId: `${id}#1`, cpuMilli: 0, memoryBytes: 0, gpuMilli };
    const gpus = told.map((number) => ({ number, busyPercent: 0, memoryBytes: 0 }));
    idle.hear(known, 'n1' as NodeName, [{ at: head.at, node: null, tasks: [use], gpus }]);
    idle.tick(known, head.at);
    return [...head.state.scratch.taskNotices.values()][0];
  };
  const looks = (count: number, gpuMilli: number | null): string | undefined => {
    let said: string | undefined;
    for (let at = 0; at < count; at += 1) said = look(gpuMilli);
    return said;
  };
  const tells = (...numbers: number[]): void => {
    told = numbers;
  };
  return { head, id, idle, known, looks, tells };
}

test('[V18] a task is named while its gpus are idle, and no more when they work', () => {
  const { head, idle, known, looks } = world({});
  assert.equal(looks(6, 0), undefined);
  assert.equal(looks(1, 0), 'All its 2 gpus have been idle for 1m, at less than 5% of the time.');
  assert.equal(idle.count, 1);
  assert.equal(looks(1, 2000), undefined);
  looks(7, 0);
  head.settings = { ...SETTINGS, gpuIdle: {} };
  idle.tick(known, head.at);
  assert.equal(head.state.scratch.taskNotices.size, 0, 'a rule that is gone says nothing');
});

test('[V18] a task is ended where the partition says so, with the numbers; a suspended one is not', () => {
  const { head, id, looks } = world({ endAfterMs: 120_000 });
  head.command({ kind: 'suspend_task', place: place(`${id}`) }, ANN);
  assert.equal(looks(30, 0), undefined, 'it cannot work');
  head.command({ kind: 'resume_task', place: place(`${id}`) }, ANN);
  assert.match(looks(8, 0) ?? '', /idle for 1m10s.*The task is ended after 2m of that\./);
  assert.equal(head.task(`${id}`).ending, null);
  looks(5, 0);
  const { ending } = head.task(`${id}`);
  assert.equal(ending?.kind, 'cancel');
  assert.match(
    JSON.stringify(ending),
    /its 2 gpus were idle for 2m; gpu_idle of partition default ends such tasks/,
  );
});

test('[V18] a task of which one gpu is not told is not idle, and the count begins anew', () => {
  const { head, id, looks, tells } = world({ endAfterMs: 120_000 });
  tells(1);
  assert.equal(looks(30, 0), undefined, 'the other one may work');
  tells(0, 1);
  assert.match(looks(12, 0) ?? '', /idle for 1m50s/);
  tells(0);
  assert.equal(looks(1, 0), undefined);
  tells(0, 1);
  assert.match(looks(12, 0) ?? '', /idle for 1m50s/);
  assert.equal(head.task(`${id}`).ending, null);
});

test('[V18] a task is put back and held where the partition says so, until it is released', () => {
  const { head, id, looks } = world({ holdAfterMs: 120_000 });
  assert.match(looks(8, 0) ?? '', /is put back and held after 2m of that\./);
  looks(5, 0);
  const { ending } = head.task(`${id}`);
  assert.deepEqual([ending?.kind, ending?.kind === 'requeue' && ending.holds], ['requeue', true]);
  head.ended(`${id}#1`, { signal: 15 });
  head.schedule();
  const words = 'its 2 gpus were idle for 2m, and gpu_idle of partition default holds such tasks';
  const held = head.task(`${id}`);
  assert.deepEqual([held.state, held.heldBecause], ['pending', words]);
  assert.equal(head.node('n1').free.gpuCount, 2, 'its gpus are free');
  looks(30, 0);
  head.command({ kind: 'release_job', jobId: head.job(id).id }, ANN);
  head.schedule();
  assert.equal(head.task(`${id}`).state, 'starting');
});

for (const [title, fields] of [
  ['a job that must not start twice', { requeue: false }],
  ['a worker of a pool', { pool: {} }],
] as const) {
  test(`[V18] ${title} is named, not put back, and nothing else is said`, () => {
    const { head, id, looks } = world({ holdAfterMs: 120_000 });
    Object.assign(head.job(id).spec, fields);
    assert.match(looks(20, 0) ?? '', /idle for 3m10s, at less than 5% of the time\.$/);
    assert.equal(head.task(`${id}`).ending, null);
  });
}

test('[V18] what completes before it is put back is over, and not held', () => {
  const { head, id, looks } = world({ holdAfterMs: 60_000 });
  looks(8, 0);
  assert.equal(head.task(`${id}`).ending?.kind, 'requeue');
  head.ended(`${id}#1`);
  assert.equal(head.outcome(id), 'completed');
});
