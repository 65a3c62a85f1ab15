// Programs that wings start beside the processes of a task, and what their halves say to each
// other.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { AgentInside, Companion } from '../../../../src/kernel/agent/part.ts';
import type { ProcessEvent } from '../../../../src/kernel/model/processes.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

let world = new FakeWorld();
let inside: AgentInside;
let moments: string[] = [];
beforeEach(() => {
  world = new FakeWorld();
  moments = [];
  world.parts = [
    {
      accompany: (agent): Companion => {
        inside = agent;
        return {
          ended: ({ order }) => void moments.push(`ended ${order.epochId}`),
          greeted: (hears) => void moments.push(`greeted ${hears}`),
          parted: () => void moments.push('parted'),
          heard: (wing, body) => void moments.push(`${wing}: ${JSON.stringify(body)}`),
        };
      },
    },
  ];
});
afterEach(() => world.kill());

async function runTask(): Promise<void> {
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
}

async function joined() {
  const epoch = inside.state.epochs.get(idOf(1));
  assert.ok(epoch);
  const joining = await inside.beside.joining(epoch);
  return joining.ok ? joining.value : assert.fail(joining.error);
}

test('what joins a task has what its process was started with, but for the mark', async () => {
  await runTask();
  const { request, mark, owner } = await joined();
  const [own] = world.launcher.started;
  assert.ok(own);
  const { environment, launchId, ...others } = own;
  assert.deepEqual(
    request.environment,
    environment.filter((one) => !one.startsWith('WEFT_LAUNCH=')),
  );
  assert.equal(
    `WEFT_LAUNCH=${mark}`,
    environment.find((one) => one.startsWith('WEFT_LAUNCH=')),
  );
  const { environment: _, ...like } = request;
  assert.deepEqual(like, others);
  assert.deepEqual([launchId, owner], [1, { uid: 1000, gid: 1000 }]);
});

test('what joins a task of several processes is none of them', async () => {
  await world.start();
  world.head.order(launch(1, shell('x'), { processesPerNode: 2 }));
  await world.clock.settle();
  const { request } = await joined();
  const ranks = (list: readonly string[]) => list.filter((one) => one.includes('_PROC_RANK='));
  assert.deepEqual(ranks(request.environment), []);
  assert.equal(ranks(world.launcher.started[1]?.environment ?? []).length, 2, 'they are');
});

test('a program beside a task has an id of its own, and its end is heard and forgotten', async () => {
  await runTask();
  const { request } = await joined();
  const heard: ProcessEvent['kind'][] = [];
  const id = inside.beside.start(request, ({ kind }) => void heard.push(kind));
  assert.equal(id, 2);
  await world.clock.settle();
  inside.beside.signal(2, 9);
  await world.clock.settle();
  assert.deepEqual(heard, ['started', 'exited']);
  assert.deepEqual([...world.launcher.table.keys()], [1], 'the task goes on');
  world.head.order(launch(2, shell('x')));
  await world.clock.settle();
  assert.deepEqual(
    world.launcher.started.map(({ launchId }) => launchId),
    [1, 2, 3],
  );
});

test('the next agent ends what it finds beside a task, and adopts the task', async () => {
  await runTask();
  const { request } = await joined();
  inside.beside.start(request, () => undefined);
  await world.clock.settle();
  await world.kill();
  await world.start();
  assert.deepEqual([...world.launcher.table.keys()], [1]);
  assert.equal(inside.state.epochs.get(idOf(1))?.phase, 'running');
});

test('what runs beside a task is lost with the launcher, and cannot be started without one', async () => {
  await runTask();
  const { request } = await joined();
  const heard: string[] = [];
  inside.beside.start(request, ({ kind }) => void heard.push(kind));
  await world.clock.settle();
  world.launcher.isUp = false;
  world.launcher.die();
  await world.clock.settle();
  assert.deepEqual(heard, ['started', 'lost']);
  assert.equal(
    inside.beside.start(request, () => undefined),
    null,
  );
});

test('a companion hears of the end of a task before it is swept, and of sessions', async () => {
  await runTask();
  assert.deepEqual(moments, ['greeted true']);
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  world.head.tell({ kind: 'wing', wing: 'w', body: { a: 1 } });
  await world.clock.settle();
  assert.equal(inside.say('w', { b: 2 }), true);
  await world.clock.settle();
  world.head.cut();
  await world.clock.settle();
  assert.equal(inside.say('w', { c: 3 }), false);
  assert.deepEqual(moments.slice(1, 4), [`ended ${idOf(1)}`, 'w: {"a":1}', 'parted']);
  const said = world.head.received.filter(({ kind }) => kind === 'wing');
  assert.deepEqual(said, [{ kind: 'wing', wing: 'w', body: { b: 2 } }]);
});
