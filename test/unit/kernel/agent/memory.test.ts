// What an agent sees of its tasks' memory, tells the head, and does when the kernel kills a part of
// one.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Engine } from '../../../../src/kernel/agent/engine.ts';
import { MemoryWatch } from '../../../../src/kernel/agent/memory-watch.ts';
import type { AgentSettings, AllPorts } from '../../../../src/kernel/agent/ports.ts';
import { MEMORY_USES_MAX } from '../../../../src/kernel/model/limits.ts';
import type { LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import type { GroupMemory } from '../../../../src/kernel/ports/containment.ts';
import { POLLED } from '../../../../src/kernel/ports/containment.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, share, shell } from './orders.ts';

const LIMIT = 64e6;
const CALM: GroupMemory = { bytes: 10e6, peakBytes: 12e6, kills: 0 };

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

/** A node whose one group has this; says how it is told to change. */
async function running(more: Partial<LaunchOrder> = {}): Promise<(memory: GroupMemory) => void> {
  let memory = CALM;
  world = new FakeWorld();
  world.containment = {
    ...POLLED,
    polled: false,
    acquire: () => ({ name: 'g1', procs: [] }),
    memory: (name) => (name === 'g1' ? memory : null),
  };
  await world.start();
  world.head.order(launch(1, shell('x'), { share: share(1, LIMIT), ...more }));
  await world.clock.settle();
  return (next) => {
    memory = next;
  };
}

test('[J29] what a task has in memory is told with the heartbeats, when it was looked at anew', async () => {
  const become = await running();
  await world.clock.advance(6000);
  const [first] = world.head.memory;
  const calm = { bytes: 10e6, peakBytes: 12e6, kills: 0, killedAt: null };
  assert.deepEqual(first, [{ epochId: idOf(1), ...calm }]);
  become({ ...CALM, bytes: 8e6 });
  await world.clock.advance(6000);
  assert.equal(world.head.memory.at(-1)?.[0]?.bytes, 8e6);
  world.launcher.exit(world.launcher.started[0]?.launchId ?? 0, { code: 0 });
  await world.clock.advance(6000);
  assert.deepEqual(world.head.memory.at(-1), [], 'it runs no more');
  const count = world.head.memory.length;
  await world.clock.advance(20_000);
  assert.equal(world.head.memory.length, count, 'a node without tasks says nothing');
});

test('[J29] a kill by the kernel is told at once, and the rest goes on', async () => {
  const become = await running();
  await world.clock.advance(2500);
  become({ bytes: 1e6, peakBytes: LIMIT, kills: 1 });
  const before = world.head.memory.length;
  const from = world.clock.now();
  await world.clock.advance(2000);
  const told = world.head.memory.slice(before).flat();
  assert.equal(told.at(-1)?.kills, 1);
  assert.ok((told.at(-1)?.killedAt ?? 0) >= from);
  assert.equal(world.head.endOf(idOf(1)), undefined);
});

test('[J29] a task without a limit is looked at as well, and ends when it asked for it', async () => {
  const become = await running({ share: share(1, 0), onOom: 'end' });
  await world.clock.advance(6000);
  assert.equal(world.head.memory.at(-1)?.[0]?.bytes, CALM.bytes);
  assert.equal(world.head.endOf(idOf(1)), undefined);
  become({ ...CALM, kills: 1 });
  await world.clock.advance(2500);
  assert.equal(world.head.memory.at(-1)?.[0]?.kills, 1);
  world.launcher.exit(world.launcher.started[0]?.launchId ?? 0, { signal: 9 });
  await world.clock.advance(1000);
  assert.equal(world.head.endOf(idOf(1))?.cause, 'out_of_memory');
});

test('[J29] where nothing counts it, a task without a limit says what its processes have', async () => {
  world = new FakeWorld();
  await world.start();
  world.head.order(launch(1, shell('x'), { share: share(1, 0) }));
  await world.clock.settle();
  await world.clock.advance(6000);
  assert.equal(world.head.memory.at(-1)?.length ?? 0, 0, 'nobody has seen them');
  world.memory.set('inst:1', 1e12);
  await world.clock.advance(6000);
  assert.partialDeepStrictEqual(world.head.memory.at(-1), [{ bytes: 1e12, kills: 0 }]);
  assert.equal(world.head.endOf(idOf(1)), undefined);
});

test('[J29] a task that asked for it ends when the kernel kills a process of it', async () => {
  const become = await running({ onOom: 'end' });
  await world.clock.advance(6000);
  assert.equal(world.head.endOf(idOf(1)), undefined);
  become({ bytes: 1e6, peakBytes: LIMIT, kills: 1 });
  await world.clock.advance(6000);
  const killed = world.launcher.started[0]?.launchId ?? 0;
  world.launcher.exit(killed, { signal: 9 });
  await world.clock.advance(1000);
  assert.equal(world.head.endOf(idOf(1))?.cause, 'out_of_memory');
});

test('[J29] what was killed before the agent was there has no time', async () => {
  const become = await running();
  become({ bytes: 1e6, peakBytes: LIMIT, kills: 1 });
  await world.clock.advance(8500);
  const [told] = world.head.memory.at(-1) ?? [];
  assert.deepEqual([told?.kills, told?.killedAt], [1, null]);
  become({ bytes: 1e6, peakBytes: LIMIT, kills: 2 });
  await world.clock.advance(6000);
  assert.ok((world.head.memory.at(-1)?.[0]?.killedAt ?? 0) > 0);
});

test('[J29] of very many tasks those with a kill are told, once, and each group is read once', async () => {
  let reads = 0;
  world = new FakeWorld();
  const count = MEMORY_USES_MAX + 1;
  const epochs = Array.from({ length: count }, (_, at) => ({
    phase: 'running',
    run: { preparation: { group: `g${at}` } },
    order: { epochId: `${at}#1`, share: share(1, LIMIT), onOom: 'tell' },
  }));
  let kills = 1;
  const containment = {
    polled: false,
    memory: (name: string) => {
      reads += 1;
      return name === `g${count - 1}` ? { ...CALM, kills } : CALM;
    },
  };
  let told = 0;
  const engine = { state: { epochs: new Map(epochs.map((one) => [one.order.epochId, one])) } };
  const ports = { clock: world.clock, containment } as unknown as AllPorts;
  const of = { engine: engine as unknown as Engine, onKill: () => (told += 1) };
  const watch = new MemoryWatch(ports, {} as AgentSettings, of);
  watch.start();
  await world.clock.advance(2000);
  assert.deepEqual([reads, told], [count, 0]);
  kills = 2;
  await world.clock.advance(10_000);
  watch.stop();
  assert.equal(told, 1);
  assert.equal(watch.uses.length, MEMORY_USES_MAX);
  assert.equal(watch.uses[0]?.kills, 2);
});
