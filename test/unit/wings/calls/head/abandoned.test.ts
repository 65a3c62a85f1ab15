// Pools of one program: when they are given up.

import assert from 'node:assert/strict';
import type { Job } from '../../../../../src/kernel/machine/jobs/facts.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { POOL_ABANDONED_MS } from '../../../../../src/kernel/model/limits.ts';
import type { RouterToClient } from '../../../../../src/wings/calls/core/messages.ts';
import { AssetRoom } from '../../../../../src/wings/calls/core/router/asset-room.ts';
import { PoolCalls } from '../../../../../src/wings/calls/head/pool-calls.ts';
import { whyHopeless } from '../../../../../src/wings/calls/machine/hopeless.ts';
import { pilots } from '../../../../../src/wings/pilots/machine/pilots.ts';
import { ANN, scenario, type TestHead } from '../../../../support/controller.ts';

function poolCalls(head: TestHead, isTemporary: boolean) {
  head.connect('n1');
  const spec = { name: null, min: 0, max: 1, idleMs: 0, ...(isTemporary && { isTemporary }) };
  const reply = head.command(
    { kind: 'start_pool', worker: {}, key: null, secret: '', pool: spec as never },
    ANN,
  );
  const { jobId } = reply as { jobId: JobId };
  let asked = 0;
  const calls = new PoolCalls(
    {
      room: new AssetRoom(1),
      generation: 'g',
      job: () => head.job(jobId),
      scale: () => undefined,
      why: () => null,
      hopeless: () => null,
      abandon: () => (asked += 1),
    },
    head.job(jobId),
    0,
  );
  return { calls, asked: () => asked };
}

/** Looks at the pool every second. */
function pass(calls: PoolCalls, from: number, until: number): void {
  for (let now = from; now <= until; now += 1000) calls.tick(now);
}

scenario('[K13] a program that never came, or is gone, is waited for three minutes', (head) => {
  const { calls, asked } = poolCalls(head, true);
  pass(calls, 0, POOL_ABANDONED_MS - 1000);
  assert.equal(asked(), 0);
  const heard: RouterToClient[] = [];
  const peer = { send: (one: RouterToClient) => heard.push(one), close: () => {}, isBehind: false };
  const port = calls.router.openClient(peer, POOL_ABANDONED_MS - 1000);
  const hello = { session: 'a'.repeat(32), generation: null, detach: false, label: '' };
  port.take([{ kind: 'hello', ...hello }], POOL_ABANDONED_MS - 1000);
  for (let now = POOL_ABANDONED_MS; now < 3 * POOL_ABANDONED_MS; now += 1000) {
    port.take([{ kind: 'ping' }], now);
    calls.tick(now);
  }
  assert.equal(asked(), 0, 'it is there');
  port.gone(3 * POOL_ABANDONED_MS);
  pass(calls, 3 * POOL_ABANDONED_MS, 4 * POOL_ABANDONED_MS);
  assert.equal(asked(), 0, 'it may come back for ten seconds, and is away then');
  pass(calls, 4 * POOL_ABANDONED_MS, 4 * POOL_ABANDONED_MS + 11_000);
  assert.equal(asked(), 1);
});

scenario('[K13] any other pool is there until it is stopped', (head) => {
  const { calls, asked } = poolCalls(head, false);
  pass(calls, 0, 10 * POOL_ABANDONED_MS);
  assert.equal(asked(), 0);
});

function startFleet(name: string): never {
  const wish = { system: 'slurm', queue: null, options: [], isolated: false, walltimeMs: null };
  const fleet = { name: 'f', tag: 'ab', isOnce: false, min: 0, max: 2, idleMs: 0 };
  const own = {
    cpuCount: 1,
    memoryBytes: null,
    image: null,
    dockerArgs: [],
    directory: '/tmp',
    sharedPaths: [],
  };
  return { kind: 'start_fleet', ...fleet, name, wish: { ...wish, ...own } } as never;
}

scenario('[C16] a pool waits for a fleet that may come, and for none that is over', (head) => {
  head.connect('n1');
  head.command(startFleet('g'));
  head.command({ kind: 'stop_fleet', fleet: 'g', by: 'ann' } as never);
  assert.equal(head.state.fleets.has('g'), false, 'it is not there any more');
  const pool = { name: null, min: 1, max: 1, idleMs: 0 };
  const command = { kind: 'start_pool', worker: {}, key: null, secret: '', pool } as const;
  const { jobId } = head.command(command as never, ANN) as { jobId: JobId };
  const why = (name: string) => {
    const job = head.job(jobId);
    const request = { ...job.spec.request, labels: [`pilot=${name}`] };
    return whyHopeless(head.state, { ...job, spec: { ...job.spec, request } } as never);
  };
  assert.match(why('g') ?? '', /fleet g, which has ended/);
  assert.deepEqual(pilots.save(head.state).endedFleets, ['g'], 'a snapshot knows it');
  assert.equal(why('h'), null, 'it may come');
  head.command(startFleet('g'));
  assert.equal(why('g'), null, 'another of that name');
});

scenario(
  '[C16] a pool that is held, or whose fleet is over, says that no worker will come',
  (head) => {
    head.connect('n1');
    const pool = { name: null, min: 1, max: 1, idleMs: 0 };
    const start = (worker: object): Job => {
      const command = { kind: 'start_pool', worker, key: null, secret: '', pool } as const;
      return head.job((head.command(command as never, ANN) as { jobId: JobId }).jobId);
    };
    const held = start({});
    assert.equal(whyHopeless(head.state, held), null);
    head.command({ kind: 'hold_job', jobId: held.id }, ANN);
    const release = `\`weft release ${held.id}\``;
    assert.equal(
      whyHopeless(head.state, held),
      `The pool is held: ${release} lets its workers start.`,
    );
    head.command({ kind: 'release_job', jobId: held.id }, ANN);
    assert.equal(whyHopeless(head.state, held), null);

    head.command(startFleet('f'));
    const onPilots = start({ labels: ['pilot=f'] });
    assert.equal(whyHopeless(head.state, onPilots), null, 'they may come');
    head.command({ kind: 'stop_fleet', fleet: 'f', by: 'ann' } as never);
    assert.match(whyHopeless(head.state, onPilots) ?? '', /fleet f, which has ended/);
  },
);
