// What whoever stays with a job hears of it while it is suspended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../../../src/kernel/cli/context.ts';
import { tellStandstill } from '../../../../src/kernel/cli/jobs/standstill.ts';
import { Failure } from '../../../../src/kernel/model/failure.ts';

type State = 'running' | 'suspended' | 'away' | 'pending';

/** A head that shows these states one after the other. */
function watched(states: readonly State[]) {
  const rest = [...states];
  let asked = 0;
  const call = async (name: string) => {
    if (name === 'explainJob') {
      asked += 1;
      const words = 'It is suspended on n1.x,n2 since 2026-11-30T10:00:00Z.\nMore of it.';
      return { state: 'suspended', words };
    }
    const state = rest.shift() ?? 'running';
    if (state === 'away')
      throw new Failure({ code: 'head.unreachable', kind: 'unavailable', message: 'away' });
    return { state, taskCounts: { [state]: 1 } };
  };
  const notes: string[] = [];
  const context = { api: async () => ({ call }), note: (line: string) => notes.push(line) };
  return { context: context as unknown as Context, notes, asked: () => asked };
}

test('each standstill is said once, with the first line of why, and so is its end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { context, notes, asked } = watched([
    'running',
    'suspended',
    'away',
    'suspended',
    'running',
    'suspended',
    'pending',
    'running',
  ]);
  const still = tellStandstill(context, '42[7]');
  const seen: (boolean | null)[] = [];
  for (let look = 0; look < 8; look += 1) seen.push(await still.look());
  still.stop();
  assert.deepEqual(seen, [false, true, null, true, false, true, false, false]);
  assert.deepEqual(notes, [
    'job 42[7] is suspended on n1.x,n2.',
    'job 42[7] goes on',
    'job 42[7] is suspended on n1.x,n2.',
  ]);
  assert.equal(asked(), 3, 'why is asked only while it stands still');
});

test('it looks by itself every five seconds, and says nothing once nobody stays', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { context, notes } = watched(['running', 'suspended', 'running']);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  let heard = 0;
  const still = tellStandstill(context, '42', () => {
    heard += 1;
  });
  for (let beat = 0; beat < 2; beat += 1) {
    t.mock.timers.tick(5000);
    await turn();
  }
  assert.deepEqual([notes.length, heard], [1, 1]);
  t.mock.timers.tick(5000);
  still.stop();
  await turn();
  assert.deepEqual([notes.length, heard], [1, 1]);
});

test('why a whole job stands still is asked once, and never while some of it runs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const notes: string[] = [];
  let asked = 0;
  const states = ['running', 'suspended', 'suspended', 'running', 'suspended'];
  const call = async (name: string) => {
    if (name === 'getJob') return { id: 42, state: states.shift(), taskCounts: { suspended: 1 } };
    asked += 1;
    return { state: 'suspended', words: 'It is suspended on n1.' };
  };
  const context = { api: async () => ({ call }), note: (line: string) => notes.push(line) };
  const still = tellStandstill(context as unknown as Context, '42');
  const counts: number[] = [];
  for (let look = 0; look < 5; look += 1) {
    await still.look();
    counts.push(asked);
  }
  still.stop();
  assert.deepEqual(counts, [0, 1, 1, 1, 2]);
  const [stands, goes] = ['job 42 is suspended on n1.', 'job 42 goes on'];
  assert.deepEqual(notes, [stands, goes, stands]);
});
