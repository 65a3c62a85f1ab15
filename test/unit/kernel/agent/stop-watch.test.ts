// What was stopped by order is stopped anew every so often, a few at a time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopWatch, type StopWorld } from '../../../../src/kernel/agent/stop-watch.ts';
import type { Epoch, Run } from '../../../../src/kernel/runner/epoch.ts';
import { VirtualClock } from './fake-world.ts';

type Known = Partial<Pick<Epoch, 'phase' | 'wanted'> & Pick<Run, 'suspended' | 'ending'>> & {
  readonly launches: readonly number[];
};

function world(known: readonly Known[]) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const epochs = known.map(({ launches, ...some }, at) => {
    const state = some.suspended === false ? 'running' : 'stopped';
    const processes = launches.map((launchId) => ({ launchId, state }));
    const { phase = 'running', wanted = 'suspend', suspended = true, ending = null } = some;
    return [`${at + 1}#1`, { phase, wanted, run: { processes, suspended, ending } }];
  });
  const state = { epochs: new Map(epochs as never) } as StopWorld['state'];
  const signal = (launchId: number, number: number): void =>
    void sent.push(`${launchId}:${number}`);
  return {
    clock,
    sent,
    state,
    watch: new StopWatch({ clock, state, processes: () => ({ signal }) }),
  };
}

test('[J16] only what ought to stand still by order is stopped again', async () => {
  const { clock, sent, watch } = world([
    { launches: [1, 2] },
    { launches: [3], wanted: null },
    { launches: [4], wanted: 'resume' },
    { launches: [5], suspended: false },
    { launches: [6], phase: 'sweeping' },
    { launches: [7], ending: {} as never },
  ]);
  watch.start();
  await clock.advance(5_000);
  assert.deepEqual(sent, ['1:19', '2:19']);
  watch.stop();
  await clock.advance(60_000);
  assert.equal(sent.length, 2);
});

test('[J16] with very many stopped each has its turn', async () => {
  const launches = Array.from({ length: 40 }, (_, at) => at + 1);
  const { clock, sent, watch } = world([{ launches }]);
  watch.start();
  await clock.advance(5_000);
  assert.equal(sent.length, 16);
  await clock.advance(10_000);
  assert.equal(new Set(sent).size, 40);
  watch.stop();
});

test('[J16] with very many that do not stop each has its turn', async () => {
  const launches = Array.from({ length: 40 }, (_, at) => at + 1);
  const { clock, sent, watch } = world([{ launches, suspended: false }]);
  watch.start();
  await clock.advance(20_000);
  assert.equal(new Set(sent.filter((one) => one.endsWith(':18'))).size, 40);
  watch.stop();
});

test('[J16] what has not stopped at the second look goes on for a moment and is stopped again', async () => {
  const { clock, sent, state, watch } = world([
    { launches: [1, 2], suspended: false },
    { launches: [3], suspended: false, wanted: 'resume' },
  ]);
  watch.start();
  await clock.advance(5_000);
  assert.deepEqual(sent, [], 'it may be about to');
  await clock.advance(5_000);
  assert.deepEqual(sent, ['1:18', '2:18']);
  const [first] = state.epochs.get('1#1' as never)?.run?.processes ?? [];
  Object.assign(first ?? {}, { state: 'stopped' });
  await clock.advance(200);
  assert.deepEqual(sent.slice(2), ['2:19']);
  watch.stop();
});
