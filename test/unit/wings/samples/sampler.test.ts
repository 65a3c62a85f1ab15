// An agent that looks at what its tasks use: what it tells its head, and what it keeps while there
// is none.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { CardUse } from '../../../../src/kernel/model/gpu.ts';
import { samplesPart } from '../../../../src/wings/samples/agent/sampler.ts';
import { readLooks } from '../../../../src/wings/samples/core/said.ts';
import { LOOK_MS, LOOKS_KEPT_MAX, type Look } from '../../../../src/wings/samples/model/look.ts';
import { WING } from '../../../../src/wings/samples/model/wing-name.ts';
import type { MachineLook, SessionUse } from '../../../../src/wings/samples/ports/machine-use.ts';
import { FakeWorld } from '../../kernel/agent/fake-world.ts';
import { launch, share, shell } from '../../kernel/agent/orders.ts';

let world = new FakeWorld();
/** Milliseconds of cpus since the machine was started. */
let used = { machine: 0, task: 0 };
let flow: MachineLook['flow'] = null;
let sessions = (): SessionUse[] => [];

afterEach(async () => {
  await world.kill();
});

async function start(cards: readonly CardUse[] = []): Promise<void> {
  used = { machine: 0, task: 0 };
  flow = null;
  sessions = () => [{ name: '10@1', cpuMs: used.task, memoryBytes: 500 }];
  world = new FakeWorld();
  const look = (): MachineLook => ({
    whole: { cpuMs: used.machine, memoryBytes: 1000 },
    cpuCount: 4,
    flow,
    byMark: new Map([['inst:1', sessions()]]),
  });
  world.parts = [samplesPart({ look }), { accompany: () => ({ cardUse: () => cards }) }];
  await world.start();
  await world.clock.settle();
}

/** Each look that the head has been told, with how long ago it was. */
function told(): Look[] {
  return world.head.received.flatMap((message) => {
    if (message.kind !== 'wing' || message.wing !== WING) return [];
    return [...(readLooks(message.body, 0) ?? [])];
  });
}

test('[V11] an agent tells of its machine and its tasks, as rates since the look before', async () => {
  await start();
  await world.clock.advance(LOOK_MS);
  assert.deepEqual(told(), [], 'the first look only begins');
  world.head.order(launch(1, shell('sleep 9')));
  await world.clock.settle();
  used = { machine: 20_000, task: 5000 };
  await world.clock.advance(LOOK_MS);
  assert.deepEqual(told(), [
    {
      at: 0,
      node: { cpuMilli: 2000, memoryBytes: 1000 },
      tasks: [{ epochId: '1#1', cpuMilli: 500, memoryBytes: 500, gpuMilli: null }],
      gpus: [],
    },
  ]);
  used = { machine: 20_000, task: 4000 };
  await world.clock.advance(LOOK_MS);
  assert.deepEqual(told().at(-1)?.tasks, [
    { epochId: '1#1', cpuMilli: 0, memoryBytes: 500, gpuMilli: null },
  ]);
});

test('[V11] sessions of one task are added up, and one that has ended takes nothing off', async () => {
  await start();
  await world.clock.advance(LOOK_MS);
  world.head.order(launch(1, shell('sleep 9')));
  await world.clock.settle();
  const session = (name: string, cpuMs: number) => ({ name, cpuMs, memoryBytes: 500 });
  const looks = [
    [session('10@1', 1000), session('11@1', 8000)],
    [session('10@1', 3000)],
    [session('10@1', 3000), session('12@2', 900_000)],
  ];
  for (const look of looks) {
    sessions = () => look;
    await world.clock.advance(LOOK_MS);
  }
  const tasks = told().map(({ tasks }) => tasks.map((one) => [one.cpuMilli, one.memoryBytes]));
  assert.deepEqual(tasks, [[[900, 1000]], [[200, 500]], [[4000, 1000]]], 'it has four cpus');
});

test('[V11] what was used while a task did not run is not told when it runs again', async () => {
  await start();
  used = { machine: 0, task: 30_000 };
  await world.clock.advance(2 * LOOK_MS);
  world.head.order(launch(1, shell('sleep 9')));
  await world.clock.settle();
  used = { machine: 0, task: 31_000 };
  await world.clock.advance(LOOK_MS);
  assert.equal(told().at(-1)?.tasks[0]?.cpuMilli, 100);
});

test('[V11] what no head takes is kept for an hour, and told with its age', async () => {
  await start();
  await world.clock.advance(2 * LOOK_MS);
  const before = told().length;
  world.head.reachable = false;
  world.head.cut();
  await world.clock.advance((LOOKS_KEPT_MAX + 50) * LOOK_MS);
  assert.equal(told().length, before);
  world.head.reachable = true;
  await world.clock.advance(2 * LOOK_MS);
  const late = told().slice(before);
  const first = late.slice(0, LOOKS_KEPT_MAX);
  assert.equal(first.length, LOOKS_KEPT_MAX);
  assert.deepEqual([first[0]?.at, first.at(-1)?.at], [-(LOOKS_KEPT_MAX - 1) * LOOK_MS, 0]);
});

test('[V11] of a task with gpus it tells how much these worked', async () => {
  await start([
    { number: 0, busyPercent: 99.6, memoryBytes: 1000 },
    { number: 1, busyPercent: 25, memoryBytes: 2000 },
    { number: 2, busyPercent: null, memoryBytes: 3000 },
  ]);
  const order = launch(1, shell('sleep 9'), { share: { ...share(1, 0), gpus: [1, 2] } });
  world.head.order(order);
  await world.clock.advance(2 * LOOK_MS);
  const last = told().at(-1);
  assert.deepEqual(last?.gpus, [
    { number: 0, busyPercent: 100, memoryBytes: 1000 },
    { number: 1, busyPercent: 25, memoryBytes: 2000 },
  ]);
  assert.equal(last?.tasks[0]?.gpuMilli, 250);
});

test('[V11] disks, networks, and what keeps a gpu slow are told, too', async () => {
  await start([{ number: 0, busyPercent: 50, memoryBytes: 1000, watts: 300, slowedBy: 'heat' }]);
  let disk = { readBytes: 0, writtenBytes: 50 };
  sessions = () => [
    { name: '10@1', cpuMs: 0, memoryBytes: 500, disk },
    { name: '11@1', cpuMs: 0, memoryBytes: 500 },
  ];
  flow = { readBytes: 0, writtenBytes: 9000, receivedBytes: 0, sentBytes: 0 };
  world.head.order(launch(1, shell('sleep 9')));
  await world.clock.settle();
  await world.clock.advance(LOOK_MS);
  disk = { readBytes: 4096, writtenBytes: 30 };
  flow = { readBytes: 20_000, writtenBytes: 100, receivedBytes: 10, sentBytes: 100_000 };
  await world.clock.advance(LOOK_MS);
  const last = told().at(-1);
  const rates = { readRate: 2000, writtenRate: 0, receivedRate: 1, sentRate: 10_000 };
  assert.deepEqual(last?.node?.flow, rates, 'a disk that was taken out takes nothing off');
  assert.deepEqual(last?.tasks[0]?.disk, { readBytes: 4096, writtenBytes: 0 });
  const warm = { watts: 300, slowedBy: 'heat' };
  assert.deepEqual(last?.gpus, [{ number: 0, busyPercent: 50, memoryBytes: 1000, ...warm }]);
});
