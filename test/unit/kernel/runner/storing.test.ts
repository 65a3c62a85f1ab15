// The phase in which what a task leaves is being kept: when there is one, and what ends it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndReport } from '../../../../src/kernel/model/orders.ts';
import { apply } from '../../../../src/kernel/runner/apply.ts';
import { sumOf } from '../../../../src/kernel/runner/books.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { outstanding } from '../../../../src/kernel/runner/outstanding.ts';
import { rebootEvents } from '../../../../src/kernel/runner/progress.ts';
import { emptyState } from '../../../../src/kernel/runner/state.ts';
import { deadlineOf } from '../../../../src/kernel/runner/time.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import {
  exited,
  failed,
  killed,
  prepared,
  process,
  started,
  stored,
  swept,
  World,
} from './world.ts';

const ID = idOf(7);
const END = { kind: 'end', epochId: ID, graceMs: 5000, why: 'cancel' } as const;
const end: RunnerInput = { kind: 'order', order: END };
const hasten: RunnerInput = { kind: 'order', order: { ...END, hastens: true } };
const discard: RunnerInput = { kind: 'order', order: { ...END, discards: true } };

function order(epoch = 1, other: Parameters<typeof launch>[2] = {}): RunnerInput {
  return { kind: 'order', order: launch(7, shell('x'), { epoch, ...other }) };
}

function running(other: Parameters<typeof launch>[2] = {}): World {
  const world = new World();
  world.feed(order(1, other), prepared(ID), started(1));
  return world;
}

function storing(other: Parameters<typeof launch>[2] = {}): World {
  const world = running(other);
  world.feed(exited(1, 0, 1500), swept(ID, { leaves: true }));
  return world;
}

function endReport(world: World): EndReport {
  const report = [...world.state.reports.values()].at(-1);
  assert.equal(report?.kind, 'task_ended');
  return report as EndReport;
}

test('[F10] what a task leaves is kept before its end is told', () => {
  const world = running();
  world.feed(exited(1, 3, 1500));
  assert.deepEqual(world.feed(swept(ID, { leaves: true })), ['storing_begun']);
  assert.deepEqual(world.toDo(), ['7#1 store']);
  assert.deepEqual(world.reports(), ['7#1 task_started', '7#1 task_storing']);
  assert.deepEqual(world.feed(stored(ID)), ['epoch_ended']);
  assert.deepEqual(world.reports(), ['7#1 task_started', '7#1 task_storing', '7#1 exited']);
  const { at, processes, stored: kept } = endReport(world);
  assert.equal(at, 1500, 'the end of its processes');
  assert.deepEqual(processes, [{ rank: 0, exit: { code: 3 } }]);
  assert.deepEqual(kept, { files: 2, bytes: 10, leftOut: 1 });
  assert.deepEqual(world.toDo(), ['7#1 release']);
  world.assertReplays();
});

test('a task that leaves nothing has no such phase, and says nothing of it', () => {
  const world = running();
  world.feed(exited(1, 0, 1500));
  assert.deepEqual(world.feed(swept(ID)), ['epoch_ended']);
  assert.equal(endReport(world).stored, undefined);
  assert.deepEqual(world.feed(stored(ID)), []);
});

test('an agent that starts again meanwhile keeps it once more', () => {
  const world = storing();
  const again = emptyState();
  apply(again, [{ kind: 'state_restored', sum: structuredClone(sumOf(world.state)) }]);
  const { effects } = outstanding(again);
  assert.deepEqual(
    effects.map(({ kind }) => kind),
    ['store'],
  );
});

test('no time limit and no lease ends what only has to be kept', () => {
  const lease = { kind: 'lease', leaseMs: 100 } as const;
  const world = storing({ walltimeMs: 600, onNodeLoss: lease });
  world.time += 100_000;
  assert.equal(deadlineOf(world.state, world.epoch(ID)), null);
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
});

test('[J13] a cancel while files are kept leaves them the grace to be, and the exit code', () => {
  const world = storing();
  assert.deepEqual(world.feed(hasten), ['storing_hastened']);
  world.time += 1000;
  assert.deepEqual(world.feed(hasten), [], 'told again by the head alone');
  assert.deepEqual(world.toDo(), ['7#1 store']);
  assert.deepEqual(world.feed(stored(ID)), ['epoch_ended']);
  assert.equal(deadlineOf(world.state, world.epoch(ID)), null);
  const { cause, processes, stored: kept } = endReport(world);
  assert.equal(cause, 'exited');
  assert.deepEqual(processes, [{ rank: 0, exit: { code: 0 } }]);
  assert.deepEqual(kept, { files: 2, bytes: 10, leftOut: 1 });
  world.assertReplays();
});

test('[J13] what is not kept within the grace of a cancel is given up, with the exit code kept', () => {
  const world = storing();
  world.feed(hasten);
  const due = deadlineOf(world.state, world.epoch(ID));
  assert.equal(due, world.time + END.graceMs);
  world.time = Number(due) - 1;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  world.time += 1;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['epoch_ended']);
  const { cause, processes, stored: kept } = endReport(world);
  assert.equal(cause, 'exited');
  assert.deepEqual(processes, [{ rank: 0, exit: { code: 0 } }]);
  assert.match(kept?.problem ?? '', /^not all of it was kept in the time that a cancel leaves/);
  assert.deepEqual(world.feed(stored(ID)), []);
  world.assertReplays();
});

test('[J13] a second cancel while files are kept gives them up at once', () => {
  const world = storing();
  assert.deepEqual(world.feed(hasten, discard), ['storing_hastened', 'epoch_ended']);
  assert.match(
    endReport(world).stored?.problem ?? '',
    /^ended before its files were kept: cancel$/,
  );
});

test('the limit of a cancel is by the clock of the boot that is', () => {
  const world = storing();
  world.time += 1_000_000;
  world.feed(hasten);
  const now = { at: world.time, monotonic: 10 };
  apply(world.state, rebootEvents(world.state, now));
  assert.equal(deadlineOf(world.state, world.epoch(ID)), 10 + world.state.killGraceMs);
});

test('an end order that says nothing of files ends only processes', () => {
  const world = storing();
  assert.deepEqual(world.feed(end), []);
  world.feed(stored(ID));
  assert.deepEqual(endReport(world).stored, { files: 2, bytes: 10, leftOut: 1 });
});

test('a newer epoch that waits begins when the files of the one before are given up', () => {
  const giveUp = (world: World): string[] => world.feed(discard);
  const runOut = (world: World): string[] => {
    world.feed(hasten);
    world.time += END.graceMs;
    return world.feed({ kind: 'tick' });
  };
  for (const over of [giveUp, runOut]) {
    const world = running();
    // Told to end first, so that the newer one finds it ending and not yet unwanted.
    world.feed(end, order(2), killed(1, 15, 1500));
    assert.deepEqual(world.feed(swept(ID, { leaves: true })), ['storing_begun']);
    assert.deepEqual(over(world), ['epoch_ended', 'epoch_unblocked']);
  }
});

test('what a cancelled task leaves is kept, however often the order that ended it comes', () => {
  const world = running();
  world.feed(end, killed(1, 15, 1500), swept(ID, { leaves: true }));
  assert.deepEqual(world.toDo(), ['7#1 store']);
  world.time += 100_000;
  assert.deepEqual(world.feed(end), []);
  world.feed(stored(ID));
  assert.equal(endReport(world).cause, 'ended');
  assert.deepEqual(endReport(world).stored, { files: 2, bytes: 10, leftOut: 1 });
});

test('of a start that is made again nothing is kept, whenever that becomes known', () => {
  const before = running();
  before.feed(discard, killed(1, 15, 1500));
  assert.deepEqual(before.feed(swept(ID, { leaves: true })), ['epoch_ended']);
  const meanwhile = running();
  meanwhile.feed(end, killed(1, 15, 1500), swept(ID, { leaves: true }));
  assert.deepEqual(meanwhile.feed(discard), ['epoch_ended']);
});

test('a newer epoch waits for no files of the one before', () => {
  const world = storing();
  assert.deepEqual(world.feed(order(2)), ['epoch_ended', 'epoch_accepted']);
  assert.deepEqual(world.toDo(), ['7#1 release', '7#2 prepare']);
});

test('a newer epoch that waits begins when the files of the one before are kept', () => {
  const world = running();
  world.feed(order(2));
  world.feed(killed(1, 15, 1500));
  assert.deepEqual(world.feed(swept(ID, { leaves: true })), ['epoch_ended', 'epoch_unblocked']);
});

test('nothing is kept of what never ran, or was given to another node', () => {
  const unstarted = new World();
  unstarted.feed(order(), prepared(ID), failed(1, 'exec', 2));
  assert.deepEqual(unstarted.feed(swept(ID, { leaves: true })), ['epoch_ended']);
  const lease = { kind: 'lease', leaseMs: 300 } as const;
  const unleased = new World();
  unleased.feed({ kind: 'heard', sentAt: unleased.time }, order(1, { onNodeLoss: lease }));
  unleased.feed(prepared(ID), started(1));
  unleased.time += 301;
  unleased.feed({ kind: 'tick' }, killed(1, 15, unleased.time));
  assert.deepEqual(unleased.feed(swept(ID, { leaves: true })), ['epoch_ended']);
  assert.equal(endReport(unleased).cause, 'lease_expired');
});

test('of processes that were lost with their launcher what is there is kept', () => {
  const world = running();
  world.feed(process('lost', 1));
  assert.deepEqual(world.feed(swept(ID, { leaves: true })), ['storing_begun']);
});

test('files that cannot be brought end the epoch before anything is started', () => {
  const world = new World();
  const failure = { detail: 'cannot bring its files: the disk is full', nodeFault: true };
  world.feed(order());
  const input = { kind: 'prepare_failed', epochId: ID, failure, cause: 'stage_failed' } as const;
  assert.deepEqual(world.feed(input), ['epoch_ended']);
  const { cause, nodeFault, detail } = endReport(world);
  assert.deepEqual({ cause, nodeFault, detail }, { cause: 'stage_failed', ...failure });
  assert.deepEqual(world.toDo(), ['7#1 release']);
});

test('[S15] what succeeded and was discarded is not told as a success, whoever asks again', () => {
  const order = { ...END, why: 'a newer epoch has replaced it', discards: true } as const;
  const replace: RunnerInput = { kind: 'order', order };
  const late = running();
  // Its last process ends by itself before the signal comes.
  late.feed(replace, exited(1, 0, late.time - 1), swept(ID, { leaves: true }));
  const kept = storing();
  kept.feed(replace);
  for (const world of [late, kept]) {
    const { cause, detail, processes, stored: left } = endReport(world);
    assert.deepEqual({ cause, detail }, { cause: 'ended', detail: order.why });
    assert.deepEqual(processes, [{ rank: 0, exit: { code: 0 } }]);
    assert.match(left?.problem ?? '', /^ended before its files were kept: a newer epoch/);
  }
  const without = running();
  without.feed(replace, exited(1, 0, without.time - 1), swept(ID));
  assert.equal(endReport(without).cause, 'exited', 'it leaves nothing that could be lost');
});
