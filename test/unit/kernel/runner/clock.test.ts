// The node's wall clock is set while tasks run on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idOf, launch, shell } from '../agent/orders.ts';
import { exited, killed, prepared, process, started, swept, World } from './world.ts';

const ID = idOf(7);
const DAY = 24 * 3_600_000;

function running(walltimeMs: number | null = null): World {
  const world = new World();
  world.setMs = 0;
  world.feed({ kind: 'order', order: launch(7, shell('x'), { walltimeMs }) }, prepared(ID));
  world.feed(started(1));
  return world;
}

/** Instants of what is told, from the start. */
function told(world: World): string[] {
  return [...world.state.reports.values()].map(({ kind, at }) => `${kind} ${at - 1000}`);
}

for (const byMs of [DAY, -DAY]) {
  test(`[H1] what a node tells of a task is as far apart as it was, its clock set by ${byMs}`, () => {
    const world = running();
    world.time += 5000;
    world.setMs = byMs;
    world.feed({ kind: 'order', order: { kind: 'suspend', epochId: ID, turn: 1 } });
    world.feed(process('stopped', 1));
    world.time += 2000;
    world.feed({ kind: 'order', order: { kind: 'resume', epochId: ID, turn: 2 } });
    world.feed(process('continued', 1));
    world.time += 3000;
    // The launcher reads the wall clock.
    world.feed(exited(1, 0, world.time - 10 + byMs), swept(ID));
    const times = ['task_started 0', 'task_suspended 5000', 'task_resumed 7000', 'task_ended 9990'];
    assert.deepEqual(told(world), times);
    world.assertReplays();
  });

  test(`[H1] a task that is ended by its time limit says so, the clock set by ${byMs}`, () => {
    const world = running(10_000);
    world.time += 10_000;
    world.feed({ kind: 'tick' });
    world.setMs = byMs;
    world.time += 20;
    world.feed(killed(1, 15, world.time + byMs), swept(ID));
    assert.deepEqual(world.reports(), ['7#1 task_started', '7#1 timeout']);
    assert.equal(told(world)[1], 'task_ended 10020');
  });
}
