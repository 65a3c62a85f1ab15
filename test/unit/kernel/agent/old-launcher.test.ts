// An agent after an upgrade, with the launcher of before: a stand-in that speaks the version
// before.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { LauncherClient } from '../../../../src/kernel/agent/launcher-client.ts';
import { encodeAnswer } from '../../../../src/kernel/os/launcher-fallback/wire.ts';
import {
  LAUNCHER_VERSION,
  RECORD_STATE,
  REQUESTS,
} from '../../../../src/kernel/ports/launcher-frames.ts';
import type { LauncherStream } from '../../../../src/kernel/ports/processes.ts';
import { ALICE, FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const FAULT = 'old launcher still in use';
const LEASED = { onNodeLoss: { kind: 'lease', leaseMs: 60_000 } } as const;
const { forget, list, shutdown, leftovers } = REQUESTS;
const [FORGET, LIST, SHUTDOWN, LEFTOVERS] = [forget.type, list.type, shutdown.type, leftovers.type];
const GREETING = { version: LAUNCHER_VERSION, pid: 1, startTicks: 1n, uid: 0 };

function recordOf(state: number) {
  const usage = { userUs: 1n, systemUs: 1n, rssPeakKib: 1n };
  const endedAt = state === RECORD_STATE.exited ? 1n : 0n;
  const process = { id: 1n, state, pid: 500, startTicks: 1n, startedAt: 1n };
  return { ...process, ...usage, status: 0, stage: 0, endedAt, why: 0 };
}

/** Has one process, whose launch id is 1. */
class OldLauncher implements LauncherStream {
  isUp = true;
  readonly asked: number[] = [];
  #records = [recordOf(RECORD_STATE.running)];
  #hear: (bytes: Uint8Array) => void = () => undefined;
  #onClose: () => void = () => undefined;

  onData(handler: (bytes: Uint8Array) => void): void {
    this.#hear = handler;
    setImmediate(() => this.#hear(encodeAnswer('hello', GREETING)));
  }

  onClose(handler: () => void): void {
    this.#onClose = handler;
  }

  write(bytes: Uint8Array): void {
    const frames = Buffer.from(bytes);
    for (let at = 0; at < frames.length; at += 4 + frames.readUInt32LE(at)) {
      this.#onFrame(frames.readUInt8(at + 4));
    }
  }

  close(): void {}

  /** The connection is lost; the launcher runs on. */
  drop(): void {
    this.#onClose();
  }

  /** The one process of the launcher ends. */
  exit(): void {
    this.#records = [recordOf(RECORD_STATE.exited)];
    this.#hear(encodeAnswer('exited', recordOf(RECORD_STATE.exited)));
  }

  #onFrame(type: number): void {
    this.asked.push(type);
    if (type === LIST) {
      for (const record of this.#records) this.#hear(encodeAnswer('record', record));
      this.#hear(encodeAnswer('list_end', { count: this.#records.length }));
    }
    if (type === LEFTOVERS) this.#hear(encodeAnswer('leftovers', { id: 1n, count: 0 }));
    if (type === FORGET) this.#records = [];
    if (type !== SHUTDOWN) return;
    this.isUp = false;
    setImmediate(() => this.#onClose());
  }
}

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

const clientOf = (old: OldLauncher) =>
  new LauncherClient(old, { onRefused: assert.fail, version: LAUNCHER_VERSION + 1 });

/** The agent that started job 1 is replaced by one that finds the launcher a version behind. */
async function upgrade(): Promise<OldLauncher> {
  await world.kill();
  const old = new OldLauncher();
  const { launcher } = world;
  const connect = launcher.connect.bind(launcher);
  launcher.connect = () => {
    if (!old.isUp) return connect();
    return Promise.resolve(clientOf(old));
  };
  await world.start();
  await world.clock.advance(1000);
  return old;
}

test('[N16] a node with an old launcher runs on, takes no work, and replaces it when it is idle', async () => {
  world = new FakeWorld();
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  const old = await upgrade();
  assert.equal(world.head.hellos.at(-1)?.fault, FAULT);
  world.head.order(launch(2, shell('x'), LEASED), launch(3, shell('x')));
  await world.clock.advance(60_000);
  for (const number of [2, 3]) {
    const { cause, nodeFault, detail } = world.head.endOf(idOf(number)) ?? {};
    assert.deepEqual([cause, nodeFault, detail], ['never_started', false, FAULT]);
  }
  assert.equal(world.head.endOf(idOf(1)), undefined);
  assert.equal(old.isUp, true);
  // A new one knows nothing of what the old one had.
  world.launcher.table.clear();
  old.exit();
  await world.clock.advance(2000);
  assert.equal(world.head.endOf(idOf(1))?.cause, 'exited');
  assert.deepEqual([old.isUp, old.asked.filter((type) => type === SHUTDOWN)], [false, [SHUTDOWN]]);
  assert.equal(world.head.fault, undefined);
  world.head.order(launch(4, shell('x'), LEASED));
  await world.clock.settle();
  assert.deepEqual(world.head.kindsOf(idOf(4)), ['task_started']);
  const said = world.complaints.filter((line) => line.includes('launcher'));
  assert.deepEqual(said, ['a new launcher takes over']);
});

test('[N16] what was accepted before an upgrade is given back, not failed, while the launcher is old', async () => {
  world = new FakeWorld();
  world.settings = { ...world.settings, switchUser: true };
  const { findUser } = world;
  world.findUser = () => new Promise(() => undefined);
  await world.start();
  world.head.order(launch(2, shell('x'), LEASED));
  await world.clock.settle();
  world.findUser = findUser;
  await upgrade();
  const { cause, nodeFault, detail } = world.head.endOf(idOf(2)) ?? {};
  assert.deepEqual([cause, nodeFault, detail], ['never_started', false, FAULT]);
});

test('[N16] while the connection to an old launcher is lost, nothing is begun that it would have to start', async () => {
  world = new FakeWorld();
  world.settings = { ...world.settings, switchUser: true };
  let found: () => void = () => undefined;
  world.findUser = () => new Promise((resolve) => (found = () => resolve(ALICE)));
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  const old = await upgrade();
  world.launcher.connect = () => Promise.reject(new Error('it answers nobody'));
  old.drop();
  world.head.order(launch(2, shell('x')));
  found();
  await world.clock.settle();
  for (const number of [1, 2]) {
    const { cause, nodeFault, detail } = world.head.endOf(idOf(number)) ?? {};
    assert.deepEqual([cause, nodeFault, detail], ['never_started', false, FAULT]);
  }
});

test('[N16] a start that waited for a launcher and finds an old one has failed, and was not lost', async () => {
  world = new FakeWorld();
  await world.start();
  world.launcher.isUp = false;
  world.launcher.die();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  const old = new OldLauncher();
  world.launcher.connect = () => Promise.resolve(clientOf(old));
  await world.clock.advance(2000);
  const { cause, nodeFault, detail } = world.head.endOf(idOf(1)) ?? {};
  const words = `cannot ask the launcher for a process: a launcher of version ${LAUNCHER_VERSION}`;
  assert.deepEqual([cause, nodeFault, detail], ['launch_failed', true, words]);
});
