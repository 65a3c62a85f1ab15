// What ran, runs and is planned, as the web page asks for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryDisk } from '../../../../../sim/memory-store.ts';
import { plannedBar, runningBars } from '../../../../../src/kernel/head/http/handlers/schedule.ts';
import { SharedAnswers } from '../../../../../src/kernel/head/http/shared-answers.ts';
import type { State } from '../../../../../src/kernel/machine/state.ts';
import type { JobId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { TaskRow } from '../../../../../src/kernel/ports/history.ts';
import { jobRow, taskRow } from '../../store/support/rows.ts';
import { startAgent, startWorld, TRUE } from './fixture.ts';

const HOUR_MS = 3_600_000;

test('a large array of yesterday hides nothing that ended since, and a cut is told', async (t) => {
  const disk = new MemoryDisk();
  const now = Date.now();
  const keep = (id: number, changes: Partial<TaskRow>): void => {
    disk.jobs.set(id, jobRow(id, { state: 'done', outcome: 'completed' }));
    const row = taskRow(id, { startedAt: now - 30 * HOUR_MS, ...changes });
    disk.tasks.set(`${id}[${row.taskIndex}]`, row);
  };
  keep(1, { endedAt: now - 60_000, nodes: 'n1,n2' });
  keep(2, { endedAt: now - 120_000, nodes: 'n11' });
  keep(3, { endedAt: now - 30_000, startedAt: null, nodes: '' });
  for (let taskIndex = 0; taskIndex < 50; taskIndex += 1) {
    keep(4, { taskIndex, endedAt: now - 24 * HOUR_MS, nodes: 'n1' });
  }
  const { admin } = await startWorld(t, { disk });
  const ask = async (query: { from?: number; limit?: number; node?: string }) => {
    const { bars, isPastWhole } = await admin.call('schedule', { query });
    return [bars.map(({ id }) => id), isPastWhole] as const;
  };
  assert.deepEqual(await ask({ limit: 10 }), [['1', '2'], true]);
  assert.deepEqual(await ask({ limit: 2 }), [['1', '2'], true]);
  assert.deepEqual(await ask({ limit: 1 }), [['1'], false]);
  assert.deepEqual(await ask({ node: 'n1' }), [['1'], true]);
  const [all, isWhole] = await ask({ from: now - 25 * HOUR_MS, limit: 12 });
  assert.deepEqual([all.length, all.slice(0, 2), isWhole], [12, ['1', '2'], false]);
});

test('a bar names its job and its cpus, also when the job has left memory', async (t) => {
  const disk = new MemoryDisk();
  const now = Date.now();
  const row = { state: 'done', outcome: 'completed', name: 'fit', owner: 'anna', cpuCount: 3 };
  disk.jobs.set(1, jobRow(1, row));
  const times = { startedAt: now - 60_000, endedAt: now - 1000 };
  disk.tasks.set('1', taskRow(1, { ...times, nodes: 'n1' }));
  const { admin } = await startWorld(t, { disk });
  const { bars } = await admin.call('schedule', { query: {} });
  assert.deepEqual(
    bars.map(({ id, name, owner, cpuCount }) => [id, name, owner, cpuCount]),
    [['1', 'fit', 'anna', 3]],
  );
});

test('what runs is told for one node or for all', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  await startAgent(t, world, 'n2');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const order = await agent.launch();
  const { seq } = await world.admin.call('info', {}).then(({ head }) => head);
  agent.started(order);
  while (world.head.engine.seq === seq) await new Promise(setImmediate);
  for (const [query, ids] of [
    [{}, [String(jobId)]],
    [{ node: 'n1' }, [String(jobId)]],
    [{ node: 'n2' }, []],
  ] as const) {
    const { bars, isRunningWhole } = await world.admin.call('schedule', { query });
    assert.deepEqual(
      bars.map(({ id }) => id),
      ids,
    );
    assert.equal(isRunningWhole, true);
  }
});

test('of more tasks than one answer tells some are told, and that more run', () => {
  assert.equal(runningBars(running(10_000, 1), 0, undefined).isWhole, true);
  const many = runningBars(running(10_001, 1), 0, undefined);
  assert.deepEqual([many.bars.length, many.isWhole], [10_000, false]);
  assert.equal(many.bars[0]?.cpuCount, 2, 'those that it has, not those it asked for');
  const wide = runningBars(running(3, 15_000), 0, undefined);
  assert.deepEqual([wide.bars.length, wide.isWhole], [1, false]);
  assert.equal(runningBars(running(1, 30_000), 0, undefined).isWhole, true);
});

/** A state with so many tasks, each on so many nodes. */
function running(tasks: number, nodes: number): State {
  const part = { share: { resources: { cpuCount: 2 } } };
  const parts = new Map(Array.from({ length: nodes }, (_, at) => [`n${at}`, part]));
  const job = { id: 1, owner: 'ada', outcome: null, active: new Map<number, unknown>() };
  const request = { exclusive: true, perNode: { cpuCount: 1 } };
  const spec = { name: 'wide', array: {}, walltimeMs: null, request };
  for (let index = 0; index < tasks; index += 1) {
    job.active.set(index, { job: { ...job, spec }, index, parts, startedAt: 5, state: 'running' });
  }
  return { jobs: new Map([[1, job]]) } as unknown as State;
}

test('one answer is shared for a second, and not beyond a state that was thrown away', () => {
  const engine = { at: 1000, lives: 0, now: () => engine.at };
  const shared = new SharedAnswers(engine);
  let asked = 0;
  const ask = (question = 'plan'): number => shared.of(question, () => ++asked);
  assert.deepEqual([ask(), ask(), ask('other')], [1, 1, 2]);
  engine.at = 1999;
  assert.equal(ask(), 1);
  engine.at = 2000;
  assert.equal(ask(), 3);
  engine.lives = 1;
  assert.equal(ask(), 4);
  engine.at = 1500;
  assert.equal(ask(), 5, 'the clock went back');
  for (let other = 0; other < 100; other += 1) ask(`${other}`);
  assert.equal(asked, 105);
  assert.equal(ask('99'), 106, 'not all questions are kept');
  assert.equal(ask(), 5);
});

test('[J23] what a site will start is planned for when it is likely to, and says that it is a guess', () => {
  const nodes = ['hpc' as NodeName];
  const start = { jobId: 7 as JobId, index: 0, nodes, at: 1000, walltimeMs: 5000 };
  const state = { jobs: new Map() };
  assert.equal('guess' in plannedBar(state, start), false);
  const wait = { site: 'hpc' as NodeName, waitMs: 2000, listedAt: 400 };
  const { from, until, guess } = plannedBar(state, { ...start, wait });
  assert.deepEqual(
    [from, until, guess],
    [3000, 8000, { site: 'hpc', waitMs: 2000, listedAt: 400 }],
  );
});
