// Jobs that a user gave to a site itself: which orders end them, and which only end our books on
// them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LifeId } from '../../../../src/kernel/model/life.ts';
import type { EndOrder, LaunchOrder, Report } from '../../../../src/kernel/model/orders.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import { prepared, started, World } from './world.ts';

const ID = idOf(7);
const foreign = { job: '4711', index: null };

function order(epoch: number, more: Partial<LaunchOrder> = {}): RunnerInput {
  return { kind: 'order', order: { ...launch(7, shell('x'), { epoch }), foreign, ...more } };
}

function ended(why: string, more: Partial<EndOrder> = {}): RunnerInput {
  return { kind: 'order', order: { kind: 'end', epochId: ID, graceMs: 5000, why, ...more } };
}

/** Start 1 of task 7, which the site runs. */
function running(more: Partial<LaunchOrder> = {}): World {
  const world = new World();
  world.feed(order(1, more), prepared(ID), started(1));
  return world;
}

function lastReport({ state }: World): Report | undefined {
  return [...state.reports.values()].at(-1);
}

for (const why of ['a newer epoch has replaced it', 'sibling']) {
  test(`[G23] a site's own job goes on when its start is dropped: ${why}`, () => {
    const world = running();
    assert.deepEqual(world.feed(ended(why, { discards: true })), ['let_go', 'epoch_ended']);
    assert.deepEqual(world.toDo(), ['7#1 release']);
    const report = lastReport(world);
    assert.ok(report?.kind === 'task_ended');
    assert.deepEqual([report.cause, report.nodeFault], ['never_started', false]);
    assert.deepEqual(world.feed(ended(why)), []);
    world.assertReplays();
  });
}

for (const why of ['cancel', 'requeue']) {
  test(`[G23] a site's own job ends when that is asked for: ${why}`, () => {
    const world = running();
    assert.deepEqual(world.feed(ended(why)), ['ending_begun']);
    assert.deepEqual(world.toDo(), ['7#1 signal end#0#1']);
    // What was asked for is not taken back by a head that forgets it.
    world.feed(ended('a newer epoch has replaced it'));
    assert.deepEqual(world.toDo(), ['7#1 signal end#0#1']);
  });
}

test('[G23] a newer start of the task takes over the job of the site at once', () => {
  const world = running();
  const events = world.feed(order(2));
  assert.deepEqual(events, ['let_go', 'epoch_ended', 'epoch_accepted']);
  assert.deepEqual(world.toDo(), ['7#1 release', '7#2 prepare']);
  world.assertReplays();
});

test('[G23] a start of the same number, of another life of the head, ends no job of the site', () => {
  const world = running({ life: 'a' as LifeId });
  const events = world.feed(order(1, { life: 'b' as LifeId }));
  assert.deepEqual(events, ['let_go', 'epoch_ended', 'end_repeated']);
  assert.deepEqual(world.toDo(), ['7#1 release']);
});
