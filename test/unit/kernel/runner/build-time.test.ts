// The build of a batch's solver goes before a task: it has a limit of its own, and the clock of the
// task's limit begins when it is over.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndReport, LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { deadlineOf } from '../../../../src/kernel/runner/time.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import { killed, prepared, process, started, swept, World } from './world.ts';

const ID = idOf(7);
const T = 1000;
const B = 5000;
const batch = { title: 'a/b', build: 'k', attempt: '1.0', buildMs: B };
const built: RunnerInput = { kind: 'built', epochId: ID };
const tick: RunnerInput = { kind: 'tick' };

function building(other: Partial<Omit<LaunchOrder, 'kind' | 'epochId' | 'place'>> = {}): World {
  const world = new World();
  const order = launch(7, shell('x'), { batch, walltimeMs: T, ...other });
  world.feed({ kind: 'order', order }, prepared(ID), started(1));
  return world;
}

function end(world: World): EndReport {
  world.feed(killed(1, 15, world.time), swept(ID));
  return [...world.state.reports.values()].at(-1) as EndReport;
}

test('[B9] the time limit of a task begins when the solver is built', () => {
  const world = building();
  assert.equal(deadlineOf(world.state, world.epoch(ID)), world.time + B);
  world.time += 3 * T;
  assert.deepEqual(world.feed(tick), []);
  assert.deepEqual(world.feed(built), ['build_over']);
  assert.deepEqual(world.reports(), ['7#1 task_started', '7#1 task_built']);
  assert.equal(deadlineOf(world.state, world.epoch(ID)), world.time + T);
  world.time += T - 1;
  assert.deepEqual(world.feed(tick), []);
  world.time += 1;
  assert.deepEqual(world.feed(tick), ['ending_begun']);
  const { cause, detail } = end(world);
  assert.deepEqual([cause, detail], ['timeout', 'reached its time limit of 1s']);
  world.assertReplays();
});

test('[B9] a build that takes longer than it may is ended, also of a task without time limit', () => {
  for (const walltimeMs of [T, null, 10 * B]) {
    const world = building({ walltimeMs });
    world.time += B - 1;
    assert.deepEqual(world.feed(tick), []);
    world.time += 1;
    assert.deepEqual(world.feed(tick), ['ending_begun']);
    assert.deepEqual(world.feed(built), ['build_over'], 'what comes too late changes nothing');
    const { cause, detail } = end(world);
    assert.deepEqual([cause, detail], ['timeout', 'reached the time limit of a build, 5s']);
  }
});

test('[B9] what an agent was away for is no time of a build beyond its limit', () => {
  const world = building();
  world.time += B + T / 2;
  world.feed(built);
  assert.equal(deadlineOf(world.state, world.epoch(ID)), world.time + T / 2);
});

test('[B9] a build stands still with its task, and its clock with it', () => {
  const world = building();
  world.time += 100;
  const suspend = { kind: 'suspend', epochId: ID, turn: 1 } as const;
  const resume = { kind: 'resume', epochId: ID, turn: 2 } as const;
  world.feed({ kind: 'order', order: suspend }, process('stopped', 1));
  world.time += 100 * B;
  assert.deepEqual(world.feed(tick), []);
  world.feed({ kind: 'order', order: resume }, process('continued', 1));
  assert.equal(deadlineOf(world.state, world.epoch(ID)), world.time + B - 100);
});

test('a signal before the time limit is not sent to a build', () => {
  const world = building({ warning: { signal: 10, leadMs: 400 } });
  world.time += T;
  assert.deepEqual(world.feed(tick), []);
  world.feed(built);
  world.time += T - 400;
  assert.deepEqual(world.feed(tick), ['warning_due']);
});

test('a task on a node that has the build has its own time only', () => {
  const { buildMs: _buildMs, ...ready } = batch;
  const world = building({ batch: ready });
  assert.equal(deadlineOf(world.state, world.epoch(ID)), world.time + T);
  assert.deepEqual(world.feed(built), []);
});
