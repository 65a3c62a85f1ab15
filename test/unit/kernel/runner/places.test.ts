// Places that pass from one task of a job to the next on the node itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EpochId, JobId } from '../../../../src/kernel/model/ids.ts';
import type { EndReport, LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { launch, shell } from '../agent/orders.ts';
import { exited, killed, prepared, started, stored, swept, World } from './world.ts';

function task(index: number, other: Partial<LaunchOrder> = {}): RunnerInput {
  const place = { jobId: 1 as JobId, index };
  const epoch = other.epoch ?? 1;
  const epochId = `1[${index}]#${epoch}` as EpochId;
  return { kind: 'order', order: { ...launch(1, shell('x')), place, epochId, epoch, ...other } };
}

const A = '1[0]#1' as EpochId;
const B = '1[1]#1' as EpochId;
const C = '1[2]#1' as EpochId;

/** Task 0 runs; 1 and 2 wait for its place. */
function busy(): World {
  const world = new World();
  world.feed(task(0), prepared(A), started(1), task(1, { next: true }), task(2, { next: true }));
  return world;
}

function lastEnd(world: World): EndReport | undefined {
  const reports = [...world.state.reports.values()];
  return reports.findLast((report) => report.kind === 'task_ended');
}

const recall = (epochId: EpochId): RunnerInput => ({
  kind: 'order',
  order: { kind: 'end', epochId, graceMs: 1, why: 'recalled', unlessBegun: true },
});

test('[A35] the first that waits has the place of what ended, and its end says so', () => {
  const world = busy();
  assert.equal(world.epoch(B).phase, 'waiting');
  const kinds = world.feed(exited(1, 0, 1500), swept(A));
  assert.deepEqual(kinds.slice(-2), ['epoch_ended', 'epoch_unblocked']);
  assert.equal(lastEnd(world)?.next, B);
  assert.deepEqual([world.epoch(B).phase, world.epoch(C).phase], ['accepted', 'waiting']);
  world.assertReplays();
});

test('[A35] what keeps files gives its place away when they are kept', () => {
  const world = busy();
  world.feed(exited(1, 0, 1500), swept(A, { leaves: true }));
  assert.equal(world.epoch(B).phase, 'waiting');
  world.feed(stored(A));
  assert.equal(lastEnd(world)?.next, B);
});

test('[A38] what was ended by somebody gives its place to nobody', () => {
  const world = busy();
  world.feed({ kind: 'order', order: { kind: 'end', epochId: A, graceMs: 1000, why: 'requeue' } });
  world.feed(killed(1, 15, 1500), swept(A));
  assert.equal(lastEnd(world)?.next, undefined);
  assert.equal(world.epoch(B).phase, 'waiting');
});

test('[A35] told that it has a place, it begins', () => {
  const world = busy();
  assert.deepEqual(world.feed(task(2, { next: false })), ['epoch_unblocked']);
  assert.equal(world.epoch(C).phase, 'accepted');
});

test('[A35] with a place, it waits for the older start of its own task', () => {
  const world = busy();
  world.feed(task(1, { next: false }), prepared(B), started(2));
  world.feed(task(1, { next: true, epoch: 2 }));
  const again = '1[1]#2' as EpochId;
  assert.deepEqual(world.feed(task(1, { next: false, epoch: 2 })), ['epoch_placed']);
  assert.equal(world.epoch(again).phase, 'waiting');
  world.feed(killed(2, 15, 1600), swept(B));
  assert.equal(world.epoch(again).phase, 'accepted');
  assert.equal(lastEnd(world)?.next, undefined);
  world.assertReplays();
});

test('[A35] the end of the older start is no place for the newer one', () => {
  const world = busy();
  world.feed(task(1, { next: false }), prepared(B), started(2));
  world.feed(task(1, { next: true, epoch: 2 }));
  world.feed(killed(2, 15, 1600), swept(B));
  assert.equal(world.epoch('1[1]#2' as EpochId).phase, 'waiting');
});

test('[A38] a recall ends what waits, and leaves alone what has begun', () => {
  const world = busy();
  world.feed(exited(1, 0, 1500), swept(A));
  assert.deepEqual(world.feed(recall(B)), []);
  assert.deepEqual(world.feed(recall(C)), ['epoch_ended']);
  assert.equal(lastEnd(world)?.cause, 'never_started');
  assert.equal(world.epoch(B).phase, 'accepted');
});

test('[A38] a recall of what never came is answered', () => {
  const world = new World();
  assert.deepEqual(world.feed(recall(C)), ['epoch_refused']);
});

test('[A36] what has had no place for two seconds is given back', () => {
  const world = busy();
  world.time += 1999;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  world.time += 1;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['epoch_ended', 'epoch_ended']);
  assert.equal(lastEnd(world)?.cause, 'never_started');
  world.feed(exited(1, 0, 3500), swept(A));
  assert.equal(lastEnd(world)?.next, undefined);
  world.assertReplays();
});

test('[A36] a place that comes too late passes to nobody', () => {
  const world = busy();
  world.time += 2500;
  world.feed(exited(1, 0, 3500), swept(A));
  assert.equal(lastEnd(world)?.next, undefined);
});

test('[A38] a node that takes no new work gives back what waits for a place', () => {
  const world = busy();
  assert.deepEqual(world.feed({ kind: 'closed' }), ['epoch_ended', 'epoch_ended']);
  world.feed(exited(1, 0, 1500), swept(A));
  assert.equal(lastEnd(world)?.next, undefined);
  world.assertReplays();
});

test('[A38] a paused node gives no place away', () => {
  const world = busy();
  world.feed({ kind: 'pause', by: 'alice', durationMs: 60_000, requeue: false });
  world.feed(exited(1, 0, 1500), swept(A));
  assert.equal(lastEnd(world)?.next, undefined);
});
