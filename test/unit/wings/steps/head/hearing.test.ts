// What a head hears of steps from nodes, and until when lines wait for the other side.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Event } from '../../../../../src/kernel/machine/declared.ts';
import type { EpochId, NodeName, TaskId } from '../../../../../src/kernel/model/ids.ts';
import { LINGER_MS, WATCHED_MS } from '../../../../../src/wings/steps/core/limits.ts';
import type { News, ToldProcess } from '../../../../../src/wings/steps/core/told.ts';
import { Steps, type StepsWorld } from '../../../../../src/wings/steps/head/steps.ts';
import { sqliteShelf } from '../../../../../src/wings/steps/store/sqlite-shelf.ts';
import { VirtualClock } from '../../../kernel/agent/fake-world.ts';

const [n1, n2] = ['n1', 'n2'] as [NodeName, NodeName];
const epochId = '42#1' as EpochId;
const EXIT = { endedAt: 2, end: { exit: { code: 3 } } };

function told(step: string, more: Partial<ToldProcess> = {}): ToldProcess {
  const own = { step, rank: 0, count: 1, epochId, command: 'uptime', by: 'alice' };
  return { ...own, startedAt: 1, endedAt: null, end: null, ...more };
}

/** Job 42 runs on the first node. */
function makeWorld(shelf = sqliteShelf(':memory:')) {
  const clock = new VirtualClock();
  const parts = new Map([[n1, { state: 'started' }]]);
  const active = new Map([[0, { id: '42', epoch: 1, parts }]]);
  const jobs = new Map([[42, { owner: 'alice', active }]]);
  let say: (node: NodeName, body: unknown) => void = () => undefined;
  const agents = {
    hearWing: (_: string, heard: typeof say) => {
      say = heard;
    },
    wingSession: () => 1,
  };
  const engine = { state: { jobs } };
  const world = {
    agents,
    clock,
    engine,
    shelf,
    log: { warn: () => undefined },
  } as unknown as StepsWorld;
  const steps = new Steps(world);
  const hear = (node: NodeName, news: News) => say(node, news);
  const wait = (key: string): PassThrough => {
    const line = new PassThrough();
    steps.lines.open(key, 'client', line);
    return line;
  };
  return { active, clock, parts, steps, hear, wait };
}

test('[Z2] a live step counts when its node runs the task, and no other', () => {
  const { parts, steps, hear } = makeWorld();
  hear(n2, { isAll: false, processes: [told('42.0')] });
  const other = { epochId: '42#2' as EpochId };
  hear(n1, { isAll: false, processes: [told('42.1', other), told('43.0'), told('x')] });
  hear(n2, { isAll: true, processes: [told('42.2', EXIT)] });
  for (const id of ['42.0', '42.1', '42.2', '43.0']) assert.equal(steps.book.find(id), undefined);
  hear(n1, { isAll: false, processes: [told('42.0')] });
  assert.ok(steps.book.find('42.0'));
  parts.set(n1, { state: 'ended' });
  hear(n1, { isAll: false, processes: [told('42.3')] });
  assert.equal(steps.book.find('42.3'), undefined);
  steps.close();
});

test('all that a node has is heard in several words, and begins anew with the first', () => {
  const { steps, hear } = makeWorld();
  hear(n1, { isAll: false, processes: [told('42.0'), told('42.1')] });
  const word = (part: number, hasMore: boolean, ...processes: ToldProcess[]): void =>
    hear(n1, { isAll: true, part, hasMore, processes });
  word(0, true, told('42.1'));
  word(2, false);
  word(1, false, told('42.0'));
  word(0, true, told('42.0'));
  assert.equal(steps.book.find('42.1')?.processes.get(0)?.end, null);
  word(1, false, told('42.2'));
  const ends = ['42.0', '42.1', '42.2'].map((id) => steps.book.find(id)?.processes.get(0)?.end);
  assert.deepEqual(ends, [null, { why: 'the agent of its node was started anew' }, null]);
  steps.close();
});

test('[Z16] nobody waits for ever to look: not for a node, and not beyond a step that is lost', async () => {
  const { clock, steps, hear, wait } = makeWorld();
  hear(n1, { isAll: false, processes: [told('42.0')] });
  const [alone, joined] = [wait('42.0:0~who-waits'), wait('42.0:0~who-looks')];
  steps.lines.open('42.0:0~who-looks', 'node', new PassThrough());
  for (const key of ['42.0:0~who-waits', '42.0:0~who-looks']) steps.expectWatch(key);
  await clock.advance(WATCHED_MS - 1);
  assert.deepEqual([alone.destroyed, joined.destroyed], [false, false]);
  await clock.advance(1);
  assert.deepEqual([alone.destroyed, joined.destroyed], [true, false]);
  hear(n1, { isAll: true, part: 0, hasMore: false, processes: [] });
  assert.ok(joined.destroyed);
  steps.close();
});

test('nobody waits for ever for a step whose task has ended, or whose node does not come', async () => {
  const { clock, steps, hear, wait } = makeWorld();
  hear(n1, { isAll: false, processes: [told('42.0'), told('42.1'), told('42.2')] });
  const [task, exit, failed] = [wait('42.0:0'), wait('42.1:0'), wait('42.2:0')];
  hear(n1, { isAll: false, processes: [told('42.1', EXIT)] });
  hear(n1, { isAll: false, processes: [told('42.2', { endedAt: 2, end: { why: 'no' } })] });
  assert.equal(failed.destroyed, true);
  steps.committed([{ kind: 'part_ended', epochId, node: n1 } as Event]);
  await clock.advance(LINGER_MS - 1);
  assert.deepEqual([task.destroyed, exit.destroyed], [false, false]);
  await clock.advance(1);
  assert.deepEqual([task.destroyed, exit.destroyed], [true, true]);
  assert.equal(steps.book.find('42.1')?.processes.get(0)?.isPast, true);
  steps.close();
});

test('[Z9] steps that are over are in the history of their job, and no number comes twice', () => {
  const shelf = sqliteShelf(':memory:');
  const before = makeWorld(shelf);
  const used = { userUs: 5, systemUs: 7, memoryPeakBytes: 4096 };
  before.hear(n1, { isAll: false, processes: [told('42.0'), told('42.1')] });
  const end = { exit: { code: 3 }, used };
  before.hear(n1, { isAll: false, processes: [told('42.0', { endedAt: 2, end })] });
  before.steps.close();
  const { steps, hear } = makeWorld(shelf);
  const list = () => steps.past.ofJob(steps.book, { jobId: 42, index: undefined }, 10);
  assert.deepEqual(
    list().map(({ id, state, exit, used: use }) => ({ id, state, exit, use })),
    [{ id: '42.0', state: 'ended', exit: { code: 3 }, use: used }],
  );
  const epoch = { task: '42' as TaskId, epochId, command: 'x', by: 'alice', at: 3, nodes: [n1] };
  const made = steps.book.add(epoch);
  assert.equal(made.ok && made.value.number, 1);
  // What a node that has nothing to do with it says of it is not heard while it runs.
  hear(n2, { isAll: false, processes: [told('42.7', { ...EXIT, epochId: '42#0' as EpochId })] });
  assert.deepEqual(
    list().map(({ id }) => id),
    ['42.0', '42.1'],
  );
  assert.deepEqual(
    shelf.ofJob(42, undefined, 10).map(({ number }) => number),
    [0],
  );
  steps.close();
});

test('[Z9] what nodes say of a task that is over is shown at most, and changes nothing', () => {
  const shelf = sqliteShelf(':memory:');
  const world = makeWorld(shelf);
  const made = { task: '42' as TaskId, epochId, command: 'x', by: 'alice', at: 3 };
  world.steps.book.add({ ...made, nodes: [n1] });
  world.steps.book.add({ ...made, nodes: [n1] });
  world.hear(n1, { isAll: false, processes: [told('42.0', EXIT)] });
  world.active.clear();
  const worse = { endedAt: 9, end: { exit: { code: 99 } } };
  const say = (to: typeof world): void =>
    to.hear(n2, {
      isAll: false,
      processes: [
        told('42.0', { ...worse, rank: 1, count: 2 }),
        told('42.7', worse),
        told('42.1', { ...worse, epochId: 'x' as EpochId }),
      ],
    });
  const list = ({ steps }: typeof world) =>
    steps.past.ofJob(steps.book, { jobId: 42, index: null }, 9).map(({ id, exit }) => [id, exit]);
  say(world);
  const code = { code: 3 };
  assert.deepEqual(list(world), [
    ['42.0', code],
    ['42.1', null],
  ]);
  world.steps.close();
  const later = makeWorld(shelf);
  later.active.clear();
  say(later);
  assert.deepEqual(list(later), [['42.0', code]]);
  // Its number was given out, and who has it may be read.
  later.hear(n1, { isAll: false, processes: [told('42.1', worse)] });
  assert.deepEqual(list(later), [
    ['42.0', code],
    ['42.1', worse.end.exit],
  ]);
  assert.equal(shelf.ofJob(42, null, 9).length, 1);
  later.steps.close();
});

test('[Z9] a number that was given out is taken, also when no node has told of its step', () => {
  const shelf = sqliteShelf(':memory:');
  const wanted = { jobId: 42, index: null };
  const epoch = { task: '42' as TaskId, epochId, command: 'x', by: 'alice', at: 3, nodes: [n1] };
  const numbers = [1, 2].map(() => {
    const { steps } = makeWorld(shelf);
    assert.deepEqual(steps.past.ofJob(steps.book, wanted, 9), []);
    const made = steps.book.add(epoch);
    steps.close();
    return made.ok && made.value.number;
  });
  assert.deepEqual(numbers, [0, 1]);
});

test('[Z9] a head that knows less of a step than was kept changes nothing', () => {
  const shelf = sqliteShelf(':memory:');
  const [first, second] = [makeWorld(shelf), makeWorld(shelf)];
  const both = [0, 1].map((rank) => told('42.0', { rank, count: 2 }));
  first.hear(n1, { isAll: false, processes: both });
  const ends = both.map((one) => ({ ...one, ...EXIT }));
  first.hear(n1, { isAll: false, processes: ends });
  second.hear(n1, { isAll: false, processes: [{ ...ends[0], endedAt: 9 } as ToldProcess] });
  const wanted = { jobId: 42, index: null };
  assert.equal(second.steps.past.ofJob(second.steps.book, wanted, 9)[0]?.endedAt, 2);
  first.steps.close();
  second.steps.close();
});

test('[Z9] a file that cannot be written costs the history of steps, and nothing else', () => {
  const shelf = sqliteShelf(':memory:');
  const { steps, hear } = makeWorld(shelf);
  shelf.close();
  hear(n1, { isAll: false, processes: [told('42.0', EXIT)] });
  const wanted = { jobId: 42, index: null };
  assert.equal(steps.past.ofJob(steps.book, wanted, 9)[0]?.id, '42.0');
  steps.close();
});
