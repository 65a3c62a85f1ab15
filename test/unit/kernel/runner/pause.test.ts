// A node that is paused: its tasks stand still, nothing starts, and it ends by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Report } from '../../../../src/kernel/model/orders.ts';
import { apply } from '../../../../src/kernel/runner/apply.ts';
import { sumOf } from '../../../../src/kernel/runner/books.ts';
import { elapsedMs } from '../../../../src/kernel/runner/epoch.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { pauseDeadline } from '../../../../src/kernel/runner/pause/decide.ts';
import { rebootEvents } from '../../../../src/kernel/runner/progress.ts';
import { emptyState } from '../../../../src/kernel/runner/state.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import { exited, prepared, process, started, swept, World } from './world.ts';

const HOUR_MS = 3_600_000;
const ID = idOf(7);
const UNPAUSE: RunnerInput = { kind: 'unpause', by: 'alice' };
const TICK: RunnerInput = { kind: 'tick' };

function pause(durationMs = HOUR_MS, other: { requeue?: boolean; by?: string } = {}): RunnerInput {
  return { kind: 'pause', by: 'alice', requeue: false, ...other, durationMs };
}

const order = (...of: Parameters<typeof launch>): RunnerInput => {
  return { kind: 'order', order: launch(...of) };
};

function running(other: Parameters<typeof launch>[2] = {}): World {
  const world = new World();
  world.feed(order(7, shell('x'), other), prepared(ID), started(1));
  return world;
}

/** Job 7 runs, and stands still for a pause of an hour. */
function paused(other: Parameters<typeof launch>[2] = {}): World {
  const world = running(other);
  world.feed(pause(), process('stopped', 1));
  return world;
}

test('[O1] a pause stops what runs and goes on with it at the end, and says so before', () => {
  const world = running();
  assert.deepEqual(world.feed(pause()), ['pause_set']);
  assert.deepEqual(world.toDo(), ['7#1 signal turn#1']);
  world.feed(process('stopped', 1));
  assert.deepEqual(world.feed(UNPAUSE), ['pause_set']);
  assert.deepEqual(world.toDo(), ['7#1 signal turn#2']);
  world.feed(process('continued', 1));
  const said = ['7#1 task_started', 'paused', '7#1 task_suspended', 'unpaused', '7#1 task_resumed'];
  assert.deepEqual(world.reports(), said);
  world.assertReplays();
});

test('[O1] the time limit stands still in a pause', () => {
  const world = running({ walltimeMs: 500 });
  world.time += 400;
  world.feed(pause(), process('stopped', 1));
  world.time += 10_000;
  assert.deepEqual(world.feed(TICK), []);
  world.feed(UNPAUSE, process('continued', 1));
  assert.equal(elapsedMs(world.epoch(ID), world.now()), 400);
});

test('[O1] the time limit of a task that has stopped itself stands still from the pause on', () => {
  const world = running({ walltimeMs: 500 });
  world.feed(process('stopped', 1));
  world.time += 400;
  world.feed(pause());
  world.time += 10_000;
  assert.equal(elapsedMs(world.epoch(ID), world.now()), 400);
});

test('[O1] nothing starts in a pause: neither what is ordered, nor what is being prepared', () => {
  const world = new World();
  world.feed(order(7, shell('x')), pause());
  assert.deepEqual(world.feed(prepared(ID)), ['epoch_ended']);
  assert.deepEqual(world.feed(order(8, shell('x'))), ['epoch_refused']);
  assert.deepEqual(world.reports(), ['paused', '7#1 never_started', '8#1 never_started']);
  const last = [...world.state.reports.values()].at(-1) as Extract<Report, { kind: 'task_ended' }>;
  assert.equal(last.detail, 'the node is paused by alice until 1970-01-01T01:00:01Z');
});

test('[O1] what is being started as a pause begins is stopped when it runs', () => {
  const world = new World();
  world.feed(order(7, shell('x')), prepared(ID), pause());
  assert.deepEqual(world.toDo(), ['7#1 start']);
  world.feed(started(1));
  assert.deepEqual(world.toDo(), ['7#1 signal turn#1']);
});

test('[O1] what somebody wakes in a pause is stopped again', () => {
  const world = paused();
  world.feed(process('continued', 1));
  assert.deepEqual(world.toDo(), ['7#1 signal turn#2']);
});

test('[O1] a task is ended in a pause as without one', () => {
  const world = paused();
  world.feed({ kind: 'order', order: { kind: 'end', epochId: ID, graceMs: 5000, why: 'kill' } });
  assert.deepEqual(world.toDo(), ['7#1 signal end#0#1']);
  world.feed(exited(1, 1, world.time), swept(ID), UNPAUSE);
  world.assertReplays();
});

test('[O2] a pause ends at its deadline, by the first of both clocks', () => {
  const both = paused();
  both.time += HOUR_MS - 1;
  assert.deepEqual(both.feed(TICK), []);
  both.time += 1;
  assert.deepEqual(both.feed(TICK), ['pause_set']);
  for (const clock of ['at', 'monotonic'] as const) {
    const world = paused();
    const { now } = world;
    world.now = () => ({ ...now.call(world), [clock]: world.time + HOUR_MS });
    assert.deepEqual(world.feed(TICK), ['pause_set'], clock);
  }
});

test('[O2] the deadline is looked at again and again: no clock stops a timer in time', () => {
  const world = paused();
  const due = () => pauseDeadline(world.state, world.now());
  assert.equal(due(), world.time + 10_000);
  world.time += HOUR_MS - 3;
  assert.equal(due(), world.time + 3);
  world.feed(UNPAUSE);
  assert.equal(due(), null);
});

test('[O2] a pause asked for once more has the later deadline, or the earlier one', () => {
  const world = paused();
  assert.deepEqual(world.feed(pause(2 * HOUR_MS)), ['pause_set']);
  world.time += HOUR_MS;
  assert.deepEqual(world.feed(TICK), []);
  assert.deepEqual(world.feed(pause(1000)), ['pause_set']);
  world.time += 1000;
  assert.deepEqual(world.feed(TICK), ['pause_set']);
});

test('[O2] a restart of agent or machine leaves the deadline where it is', () => {
  const world = paused();
  const state = emptyState();
  apply(state, [{ kind: 'state_restored', sum: structuredClone(sumOf(world.state)) }]);
  assert.deepEqual(state.pauses, world.state.pauses);
  assert.equal(state.epochs.get(ID)?.paused, true);
  const boot = (at: number) => {
    const now = { at, monotonic: 5 };
    apply(state, rebootEvents(state, now));
    return (state.pauses.asked?.endsAt ?? 0) - now.monotonic;
  };
  assert.equal(boot(world.time + HOUR_MS / 2), HOUR_MS / 2);
  assert.equal(boot(0), HOUR_MS, 'a clock that was lost makes it no longer than it was');
  assert.equal(boot(world.time + 9 * HOUR_MS), 0);
});

test('[O2] an operator pauses and unpauses by way of the head, once per order, and is answered', () => {
  const world = running();
  const asked = { by: 'olga', durationMs: 60_000, requeue: false };
  const wish = (serial: number): RunnerInput => {
    return { kind: 'order', order: { kind: 'pause', serial, ...asked } };
  };
  const end = (serial: number): RunnerInput => {
    return { kind: 'order', order: { kind: 'unpause', serial, by: 'olga' } };
  };
  assert.deepEqual(world.feed(wish(5)), ['pause_set']);
  assert.deepEqual(world.feed(wish(4), end(5)), []);
  assert.deepEqual(world.feed(end(6)), ['pause_set']);
  assert.deepEqual(world.feed(end(7)), ['pause_set'], 'also where there is none');
  const heard = [...world.state.reports.values()].map(
    (one) => 'orderHeard' in one && one.orderHeard,
  );
  assert.deepEqual(heard.filter(Boolean), [5, 6, 7]);
});

test('[O3] a task that the head stopped stays stopped when a pause ends', () => {
  const world = running();
  world.feed({ kind: 'order', order: { kind: 'suspend', epochId: ID, turn: 1 } });
  world.feed(process('stopped', 1), pause());
  assert.deepEqual(world.toDo(), ['7#1 signal turn#2']);
  world.feed(UNPAUSE);
  assert.equal(world.epoch(ID).wanted, 'suspend');
  world.feed({ kind: 'order', order: { kind: 'resume', epochId: ID, turn: 2 } });
  assert.equal(world.epoch(ID).wanted, 'resume');
});

test('[O3] a task that the head lets go on in a pause goes on when that ends', () => {
  const world = running();
  world.feed({ kind: 'order', order: { kind: 'suspend', epochId: ID, turn: 1 } });
  world.feed(process('stopped', 1), pause());
  world.feed({ kind: 'order', order: { kind: 'resume', epochId: ID, turn: 2 } });
  assert.equal(world.epoch(ID).paused, true);
  world.feed(UNPAUSE);
  assert.equal(world.epoch(ID).wanted, 'resume');
});

test('[O3] a pause that ended while its stop was on its way wakes what a new agent finds stopped', () => {
  const world = running();
  world.feed(pause(), UNPAUSE);
  world.feed({ kind: 'process', event: { kind: 'found_stopped', launchId: 1 } });
  assert.deepEqual(world.toDo(), ['7#1 signal turn#2']);
  world.feed(process('continued', 1), process('stopped', 1));
  assert.deepEqual(world.toDo(), [], 'whoever stops itself later is left alone');
});

test('[O1] while the machine is in use it is paused, whatever else was asked for', () => {
  const world = running();
  const yielding = { kind: 'yield', why: 'input on tty1', since: 1000, requeue: false } as const;
  assert.deepEqual(world.feed({ kind: 'yield', yielding }), ['yield_set']);
  world.feed(process('stopped', 1), pause(), UNPAUSE);
  assert.equal(world.epoch(ID).paused, true);
  assert.deepEqual(world.feed({ kind: 'yield', yielding: null }), ['yield_set']);
  assert.equal(world.epoch(ID).paused, false);
  const shown = [...world.state.reports.values()].flatMap((one) =>
    one.kind === 'node_pause' ? [one.pause?.kind ?? null] : [],
  );
  assert.deepEqual(shown, ['yield', 'owner', 'yield', null]);
});
