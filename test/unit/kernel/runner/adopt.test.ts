// What a restarted agent makes of the launcher's list.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KnownProcess } from '../../../../src/kernel/model/processes.ts';
import { adoptionInputs, strangers } from '../../../../src/kernel/runner/adopt.ts';
import { apply } from '../../../../src/kernel/runner/apply.ts';
import { heldEpochs, sumOf } from '../../../../src/kernel/runner/books.ts';
import { toldOf } from '../../../../src/kernel/runner/epoch.ts';
import { emptyState } from '../../../../src/kernel/runner/state.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import { exited, prepared, started, swept, World } from './world.ts';

function launched(count: number): World {
  const world = new World();
  for (let job = 1; job <= count; job += 1) {
    world.feed({ kind: 'order', order: launch(job, shell('x')) }, prepared(idOf(job)));
  }
  return world;
}

const usage = { userUs: 0, systemUs: 0, memoryPeakBytes: 0 };

test('processes on the list are adopted in whatever state they are', () => {
  const world = launched(4);
  const known: KnownProcess[] = [
    { launchId: 1, state: 'running' },
    { launchId: 2, state: 'stopped' },
    {
      launchId: 3,
      state: 'ended',
      end: {
        kind: 'exited',
        launchId: 3,
        exit: { code: 5 },
        usage,
        endedAt: 900,
        leaseOver: false,
      },
    },
  ];
  const kinds = world.feed(...adoptionInputs(world.state, known, world.time));
  assert.deepEqual(kinds, [
    ...['process_started', 'epoch_running'],
    ...['process_started', 'epoch_running', 'process_stopped', 'epoch_suspended'],
    ...['process_started', 'epoch_running', 'process_exited', 'sweep_begun'],
    ...['process_lost', 'sweep_begun'],
  ]);
  world.assertReplays();
});

test('[S3] a process that was asked for and is not on the list is never started again', () => {
  const world = launched(1);
  world.feed(...adoptionInputs(world.state, [], world.time));
  assert.deepEqual(world.toDo(), ['1#1 sweep']);
});

test('[S3] a start of a job of a site of which its gateway has no note was never ordered there', () => {
  const world = new World();
  const order = launch(1, shell('x'), { foreign: { job: '5_0', index: null } });
  world.feed({ kind: 'order', order }, prepared(idOf(1)));
  const kinds = world.feed(...adoptionInputs(world.state, [], world.time));
  assert.deepEqual(kinds, ['process_failed', 'sweep_begun']);
  world.feed(swept(idOf(1)));
  const end = [...world.state.reports.values()].at(-1);
  assert.ok(end?.kind === 'task_ended');
  assert.equal(end.there, 'untaken');
  assert.equal(end.nodeFault, false);
});

test('ended processes are not asked about', () => {
  const world = launched(1);
  world.feed(started(1), exited(1, 0, 1000));
  assert.deepEqual(world.feed(...adoptionInputs(world.state, [], world.time)), []);
});

test('launch ids of a forgotten life are skipped and its processes are strangers', () => {
  const world = new World();
  const known: KnownProcess[] = [{ launchId: 17, state: 'running' }];
  assert.deepEqual(strangers(world.state, known), known);
  world.feed(...adoptionInputs(world.state, known, world.time));
  world.feed({ kind: 'order', order: launch(1, shell('x')) }, prepared(idOf(1)));
  assert.equal(world.epoch(idOf(1)).run?.processes[0]?.launchId, 18);
});

test('the sum of a state restores the state', () => {
  const world = launched(3);
  world.feed(started(1), exited(1, 0, 1000), started(2));
  const again = emptyState();
  apply(again, [{ kind: 'state_restored', sum: structuredClone(sumOf(world.state)) }]);
  assert.deepEqual(again, world.state);
});

test('[J20] a start that only the list tells of was when the list says, also of what has ended', () => {
  const world = launched(2);
  world.time += 60_000;
  const begun = world.time - 30_000;
  const exit = { kind: 'exited', exit: { code: 0 }, usage, leaseOver: false } as const;
  const known: KnownProcess[] = [
    { launchId: 1, state: 'running', startedAt: begun },
    {
      launchId: 2,
      state: 'ended',
      startedAt: begun,
      end: { ...exit, launchId: 2, endedAt: begun + 20_000 },
    },
  ];
  world.feed(...adoptionInputs(world.state, known, world.time));
  for (const report of world.state.reports.values()) {
    assert.ok(report.kind === 'task_started' && report.agoMs === 30_000);
  }
  const at = world.time + 5000;
  for (const { stands } of heldEpochs(world.state, at)) assert.equal(stands?.startedAt, begun);
  world.feed(swept(idOf(2)));
  const told = toldOf(world.epoch(idOf(2)));
  assert.ok(told?.startedAt !== undefined && told.at - told.startedAt === 20_000, 'it ran so long');
  world.assertReplays();
});
