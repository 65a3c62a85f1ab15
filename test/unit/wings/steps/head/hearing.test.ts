// What a head hears of steps from nodes, and until when lines wait for the other side.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Event } from '../../../../../src/kernel/machine/declared.ts';
import type { EpochId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import { LINGER_MS } from '../../../../../src/wings/steps/core/limits.ts';
import type { News, ToldProcess } from '../../../../../src/wings/steps/core/told.ts';
import { Steps, type StepsWorld } from '../../../../../src/wings/steps/head/steps.ts';
import { VirtualClock } from '../../../kernel/agent/fake-world.ts';

const [n1, n2] = ['n1', 'n2'] as [NodeName, NodeName];
const epochId = '42#1' as EpochId;
const EXIT = { endedAt: 2, end: { exit: { code: 3 } } };

function told(step: string, more: Partial<ToldProcess> = {}): ToldProcess {
  const own = { step, rank: 0, count: 1, epochId, command: 'uptime', by: 'alice' };
  return { ...own, startedAt: 1, endedAt: null, end: null, ...more };
}

/** Job 42 runs on the first node. */
function makeWorld() {
  const clock = new VirtualClock();
  const parts = new Map([[n1, { state: 'started' }]]);
  const jobs = new Map([[42, { active: new Map([[0, { id: '42', epoch: 1, parts }]]) }]]);
  let say: (node: NodeName, body: unknown) => void = () => undefined;
  const agents = {
    hearWing: (_: string, heard: typeof say) => {
      say = heard;
    },
    wingSession: () => 1,
  };
  const world = { agents, clock, engine: { state: { jobs } } } as unknown as StepsWorld;
  const steps = new Steps(world);
  const hear = (node: NodeName, news: News) => say(node, news);
  const wait = (key: string): PassThrough => {
    const line = new PassThrough();
    steps.lines.open(key, 'client', line);
    return line;
  };
  return { clock, parts, steps, hear, wait };
}

test('[Z2] a live step counts when its node runs the task, and no other', () => {
  const { parts, steps, hear } = makeWorld();
  hear(n2, { isAll: false, processes: [told('42.0')] });
  const other = { epochId: '42#2' as EpochId };
  hear(n1, { isAll: false, processes: [told('42.1', other), told('43.0'), told('x')] });
  hear(n2, { isAll: true, processes: [told('42.2', EXIT)] });
  for (const id of ['42.0', '42.1', '42.2', '43.0']) assert.equal(steps.book.find(id), undefined);
  hear(n1, { isAll: false, processes: [told('42.0'), told('41.0', { ...EXIT, ...other })] });
  assert.ok(steps.book.find('42.0'));
  assert.ok(steps.book.find('41.0'));
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
