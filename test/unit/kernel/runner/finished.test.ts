// Orders about what is over on a node, as a head gives them that was put back from an older copy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LifeId, Stamp } from '../../../../src/kernel/model/life.ts';
import type { EndReport } from '../../../../src/kernel/model/orders.ts';
import { apply } from '../../../../src/kernel/runner/apply.ts';
import { sumOf } from '../../../../src/kernel/runner/books.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import { exited, killed, prepared, started, swept, World } from './world.ts';

const ID = idOf(7);
const OLD = '3.aaaa' as LifeId;
const NEW = '4.bbbb' as LifeId;

const order = (life?: LifeId): RunnerInput => {
  const given = life === undefined ? {} : { life };
  return { kind: 'order', order: launch(7, shell('x'), given) };
};
const end = (life?: LifeId): RunnerInput => {
  const given = life === undefined ? {} : { life };
  const said = { graceMs: 5000, why: 'kill' };
  return { kind: 'order', order: { kind: 'end', epochId: ID, ...given, ...said } };
};

/** Job 7 has run, ended with code 3, and its end was taken by the head. */
function over(life?: LifeId): World {
  const world = new World();
  world.feed(order(life), prepared(ID), started(1), exited(1, 3, 1500), swept(ID));
  world.feed({ kind: 'reports_acknowledged', upTo: 2 });
  return world;
}

function last(world: World): EndReport {
  const report = [...world.state.reports.values()].at(-1);
  assert.equal(report?.kind, 'task_ended');
  return report as EndReport;
}

test('[S13] a launch of what is over is answered with its end, however often it comes', () => {
  for (const isReleased of [false, true]) {
    const world = over(OLD);
    if (isReleased) world.feed({ kind: 'released', epochId: ID });
    assert.deepEqual(world.feed(order(OLD)), ['end_repeated']);
    assert.deepEqual(world.feed(order(OLD)), [], 'the answer is on its way');
    assert.equal(last(world).cause, 'exited');
    assert.deepEqual(last(world).processes, [{ rank: 0, exit: { code: 3 } }]);
    assert.equal(last(world).startedAt, 1000, 'of which the head may know no more');
    world.feed({ kind: 'reports_acknowledged', upTo: 3 });
    assert.deepEqual(world.feed(order(OLD)), ['end_repeated']);
    world.assertReplays();
  }
});

test('[S13] a node with a fault tells of what is over, too, and of what it refused', () => {
  const why = 'its disk is full';
  const refuse = (life: LifeId): RunnerInput => ({ kind: 'refused', epochId: ID, life, why });
  const world = over(OLD);
  assert.deepEqual(world.feed(refuse(OLD)), ['end_repeated']);
  assert.deepEqual([last(world).cause, last(world).processes.length], ['exited', 1]);
  const released = over(OLD);
  released.feed({ kind: 'released', epochId: ID });
  assert.deepEqual(released.feed(refuse(NEW)), ['epoch_refused']);
  assert.deepEqual([last(released).cause, last(released).detail], ['never_started', why]);
  released.feed({ kind: 'reports_acknowledged', upTo: 3 });
  assert.deepEqual(released.feed(refuse(NEW)), ['end_repeated'], 'also what it has refused');
  const running = new World();
  running.feed(order(OLD), prepared(ID), started(1));
  assert.deepEqual(running.feed(refuse(OLD)), [], 'its end will be told');
});

test('[S13] an order to end what is over is answered as well', () => {
  const world = over(OLD);
  assert.deepEqual(world.feed(end(OLD)), ['end_repeated']);
  assert.equal(last(world).cause, 'exited');
});

test('[S13] a start that another life of the head gave the same number gets no old end', () => {
  const world = over(OLD);
  world.feed({ kind: 'released', epochId: ID });
  assert.deepEqual(world.feed(end(NEW)), ['end_repeated']);
  assert.equal(last(world).cause, 'never_started');
  world.feed({ kind: 'reports_acknowledged', upTo: 3 });
  assert.deepEqual(world.feed(order(NEW)), ['epoch_accepted']);
  assert.deepEqual(world.toDo(), ['7#1 prepare']);
  world.assertReplays();
});

test('[S13] what still runs under the number is ended, and the new start is told so', () => {
  const world = new World();
  world.feed(order(OLD), prepared(ID), started(1));
  world.feed({ kind: 'reports_acknowledged', upTo: 1 });
  assert.deepEqual(world.feed(order(NEW)), ['ending_begun', 'end_repeated']);
  assert.equal(last(world).cause, 'never_started');
  assert.deepEqual(world.feed(killed(1, 15, 2000), swept(ID)).at(-1), 'epoch_ended');
});

test('[S13] an end whose life nobody named is not taken for that of this start', () => {
  const worlds: [World, RunnerInput][] = [
    [over(), order(NEW)],
    [over(OLD), order()],
    [over(), order()],
  ];
  for (const [world, again] of worlds) {
    assert.deepEqual(world.feed(again), ['end_repeated']);
    const { cause, nodeFault, detail = '' } = last(world);
    assert.deepEqual({ cause, nodeFault }, { cause: 'lost', nodeFault: false });
    assert.match(detail, /it ended here before/);
  }
});

test('[S13] what is remembered of ends comes through a rewritten journal', () => {
  const world = over(OLD);
  world.feed({ kind: 'released', epochId: ID });
  const again = new World();
  apply(again.state, [{ kind: 'state_restored', sum: structuredClone(sumOf(world.state)) }]);
  assert.deepEqual(sumOf(again.state), sumOf(world.state));
  again.feed(order(OLD));
  assert.deepEqual(last(again).processes, [{ rank: 0, exit: { code: 3 } }]);
});

test('[S13] a journal that was written before ends were kept is read', () => {
  const { lives: _, ends: __, ...sum } = sumOf(over(OLD).state);
  const world = new World();
  apply(world.state, [{ kind: 'state_restored', sum: { ...sum, epochs: [], finished: [ID] } }]);
  assert.deepEqual(world.feed(order(NEW)), ['end_repeated']);
  assert.equal(last(world).cause, 'lost');
});

test('[S14] the newest that any head has said of itself is kept, also through a rewrite', () => {
  const stamp = (life: string, seq: number, cluster = 'c'): Stamp => {
    const given = { nextJobId: seq, nextReservationId: 1, epochMax: 1 };
    return { life: life as LifeId, seq, given, cluster, proof: 'p' };
  };
  const world = new World();
  for (const one of [stamp('9.aa', 7), stamp('10.bb', 3), stamp('10.bb', 9)]) {
    assert.deepEqual(world.feed({ kind: 'stamp', stamp: one }), ['stamped']);
  }
  for (const older of [stamp('9.aa', 90), stamp('10.bb', 8)]) {
    assert.deepEqual(world.feed({ kind: 'stamp', stamp: older }), []);
  }
  world.assertReplays();
  const again = new World();
  apply(again.state, [{ kind: 'state_restored', sum: structuredClone(sumOf(world.state)) }]);
  assert.equal(again.state.stamp?.seq, 9);
  assert.deepEqual(again.feed({ kind: 'stamp', stamp: stamp('1.cc', 1, 'other') }), ['stamped']);
});

test('[S13] a question about what was never here, or is forgotten, is answered, too', () => {
  const world = new World();
  const tell: RunnerInput = { kind: 'order', order: { kind: 'tell', epochId: ID, life: OLD } };
  assert.deepEqual(world.feed(tell), ['end_repeated']);
  assert.equal(last(world).cause, 'lost');
  assert.deepEqual(over(OLD).feed(tell), ['end_repeated']);
  const running = new World();
  running.feed(order(OLD), prepared(ID), started(1));
  assert.deepEqual(running.feed(tell), [], 'its end will be told');
});

test('[S15] a node that never heard of a start does not say that it ended there', () => {
  const world = new World();
  world.feed({ kind: 'order', order: { kind: 'tell', epochId: ID, life: OLD } });
  const { cause, processes, detail = '' } = last(world);
  assert.deepEqual({ cause, processes }, { cause: 'lost', processes: [] });
  assert.match(detail, /no record of it: it never began here/);
});
