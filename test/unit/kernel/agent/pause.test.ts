// The agent's side of a pause: it stops what runs by itself, keeps the deadline through crashes and
// restarts of the machine, and tells the head in order, also later.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Report } from '../../../../src/kernel/model/orders.ts';
import { FakeWorld, settings } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const HOUR_MS = 3_600_000;
const STOP = 19;
const CONT = 18;

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

/** Job 1 runs as process 1. */
async function running(): Promise<void> {
  world = new FakeWorld();
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
}

async function pause(durationMs = HOUR_MS) {
  const wish = { by: 'alice', durationMs, requeue: false };
  const answer = world.agent!.pausing.pause(wish);
  await world.clock.advance(10);
  return answer;
}

async function unpause() {
  const answer = world.agent!.pausing.unpause('alice');
  await world.clock.advance(10);
  return answer;
}

/** STOP and CONT to process 1, each row of the same once: what stands still is stopped again. */
function signals(): number[] {
  const all = world.launcher.signals.map(({ signal }) => signal);
  return all.filter((signal, at) => signal !== all[at - 1]);
}

function told(reports: readonly Report[]): string[] {
  return reports.map((one) => {
    if (one.kind !== 'node_pause') return one.kind;
    return one.pause === null ? 'unpaused' : 'paused';
  });
}

test('[O1] without a head a node is paused all the same, and the head hears of it later', async () => {
  await running();
  world.head.reachable = false;
  world.head.cut();
  assert.equal((await pause()).ok, true);
  world.launcher.tell({ kind: 'stopped', launchId: 1 });
  await world.clock.advance(HOUR_MS);
  assert.deepEqual(signals(), [STOP, CONT]);
  world.launcher.tell({ kind: 'continued', launchId: 1 });
  await world.clock.settle();
  world.head.reachable = true;
  await world.clock.advance(10_000);
  const said = ['task_started', 'paused', 'task_suspended', 'unpaused', 'task_resumed'];
  assert.deepEqual(told(world.head.reports), said);
});

test('[O2] the deadline survives kill -9 of the agent and a restart of the machine', async () => {
  await running();
  await pause();
  await world.kill();
  await world.clock.advance(HOUR_MS / 2);
  await world.start();
  assert.equal(world.agent?.pausing.now?.kind, 'owner');
  await world.kill();
  world.settings = { ...settings(), bootId: 'boot-2' };
  await world.start();
  await world.clock.advance(HOUR_MS / 2 - 1000);
  assert.notEqual(world.agent?.pausing.now, null);
  await world.clock.advance(1000);
  assert.equal(world.agent?.pausing.now, null);
});

test('[O2] a deadline that passed while the agent was away has passed when it is back', async () => {
  await running();
  await pause();
  world.launcher.tell({ kind: 'stopped', launchId: 1 });
  await world.clock.settle();
  await world.kill();
  await world.clock.advance(HOUR_MS);
  await world.start();
  await world.clock.advance(10);
  assert.equal(world.agent?.pausing.now, null);
  assert.equal(signals().at(-1), CONT);
});

test('[O2] what cannot be is refused with one code, and changes nothing', async () => {
  await running();
  const code = async (answer: Promise<{ ok: boolean; error?: { code: string } }>) =>
    (await answer).error?.code;
  assert.equal(await code(pause(5 * HOUR_MS)), 'pause.too_long');
  assert.equal(await code(pause(0)), 'argument.invalid');
  assert.equal(await code(unpause()), 'node.not_paused');
  assert.equal(world.agent?.state.pauses.turn, 0);
});

test('[O1] a paused node refuses what it is told to start, and says why', async () => {
  await running();
  await pause();
  world.head.order(launch(2, shell('x')));
  await world.clock.settle();
  const { cause, detail } = world.head.endOf(idOf(2)) ?? {};
  assert.equal(cause, 'never_started');
  assert.match(detail ?? '', /^the node is paused by alice until /);
  await unpause();
  world.head.order(launch(3, shell('x')));
  await world.clock.settle();
  assert.equal(world.launcher.started.length, 2);
});

test('[O2] an operator pauses by way of the head, at most as long as the node allows', async () => {
  await running();
  const wish = { by: 'olga', durationMs: 9 * HOUR_MS, requeue: false };
  world.head.order({ kind: 'pause', serial: 1, ...wish });
  await world.clock.advance(10);
  const { now } = world.agent!.pausing;
  assert.equal(now?.kind === 'owner' && now.until - now.since, 4 * HOUR_MS);
  world.head.order({ kind: 'unpause', serial: 2, by: 'olga' });
  await world.clock.advance(10);
  assert.equal(world.agent?.pausing.now, null);
});

test('[O3] a hello says how the pause is, unless a report of it is still to come', async () => {
  await running();
  assert.deepEqual(world.head.hellos[0]?.pause, { turn: 0, pause: null });
  assert.equal(world.head.hellos[0]?.pauseMaxMs, 4 * HOUR_MS);
  await pause();
  world.head.cut();
  await world.clock.advance(10_000);
  assert.equal(world.head.hellos[1]?.pause?.turn, 1);
  world.head.acknowledges = false;
  await unpause();
  world.head.cut();
  await world.clock.advance(10_000);
  assert.equal(world.head.hellos[2]?.pause, undefined);
});
