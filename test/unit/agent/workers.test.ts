// What an agent gives the workers of pools: their program, and the way to the head.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LaunchOrder } from '../../../src/core/model/orders.ts';
import { FakeWorld } from './fake-world.ts';
import { launch, shell } from './orders.ts';

const FORGED = { WEFT_CALLS: 'forged', WEFT_POOL: '9' };

/** What is started for the order: its command, and its environment by name. */
async function started(order: LaunchOrder, head = {}): Promise<[string[], Map<string, string>]> {
  const world = new FakeWorld();
  const { workers } = world.settings;
  world.settings = { ...world.settings, workers: { ...workers, ...head } };
  await world.start();
  world.head.order(order);
  await world.clock.settle();
  const [request] = world.launcher.started;
  await world.kill();
  assert.ok(request !== undefined, 'it was started');
  const pairs = request.environment.map((entry) => entry.split(/=(.*)/s).slice(0, 2));
  return [[...request.argv], new Map(pairs as [string, string][])];
}

test('[K8] a worker runs our program, which is told of the head and of its secret', async () => {
  const recycle = { calls: 100, bytes: 0 };
  const pool = { key: 'secret', recycle };
  const order = launch(7, shell('x'), { pool, epoch: 3, environment: FORGED });
  const [argv, environment] = await started(order);
  assert.deepEqual(argv, ['/bin/weft-worker']);
  assert.equal(environment.get('WEFT_POOL'), '7');
  assert.deepEqual(JSON.parse(environment.get('WEFT_CALLS') ?? ''), {
    ...{ head: { socketPath: '/run/head.sock' }, key: 'secret' },
    ...{ epochId: '7#3', worker: 'n1:7#3', recycle },
  });
  const tls = { url: 'https://head:5001', fingerprint: 'ab' };
  const [, remote] = await started(order, { head: tls });
  assert.deepEqual(JSON.parse(remote.get('WEFT_CALLS') ?? '').head, tls);
});

test('[K8] any other task is told nothing of it, whatever its environment says', async () => {
  const [argv, environment] = await started(launch(7, shell('x'), { environment: FORGED }));
  assert.deepEqual(argv, ['/bin/sh', '-c', 'x']);
  assert.deepEqual(
    [environment.get('WEFT_POOL'), environment.get('WEFT_CALLS')],
    [undefined, undefined],
  );
});
