// Pools whose calls wait for each other's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { waitsBetween } from '../../../../../src/wings/calls/core/router/between.ts';
import { sayPoolWait } from '../../../../../src/wings/calls/head/pool-wait.ts';
import { type Client, Rig } from './rig.ts';

const id = (number: number): JobId => number as JobId;

/** Pools of one worker each, which runs a call; by number. */
function pools(...numbers: number[]) {
  const made = numbers.map((number) => {
    const rig = new Rig();
    const client = rig.client('a');
    client.submit(client.asset(), 'outer');
    const worker = rig.worker(nameIn(number));
    rig.settle();
    worker.start();
    rig.settle();
    return [id(number), { rig, client, worker }] as const;
  });
  return new Map(made);
}

type Pools = ReturnType<typeof pools>;

function nameIn(number: number): string {
  return `n1:${number}[0]#1`;
}

/** A call of pool `to` by the program that runs in the call of pool `from`. */
function ask(all: Pools, from: number, to: number): Client {
  const rig = all.get(id(to))?.rig;
  assert.ok(rig !== undefined);
  const inside = { pool: id(from), worker: nameIn(from), depth: 0 };
  const client = rig.client('bcdef'[from] ?? '', false, inside);
  client.submit(client.asset(), 'inner');
  rig.settle();
  return client;
}

function waits(all: Pools) {
  return waitsBetween(new Map([...all].map(([one, { rig }]) => [one, rig.router.state])));
}

test('[C18] pools that wait for each other are found, and all that wait for them', () => {
  const all = pools(1, 2, 3, 4);
  ask(all, 1, 2);
  assert.deepEqual([...waits(all)], [], 'no call of the first waits');
  ask(all, 2, 1);
  ask(all, 3, 1);
  ask(all, 4, 3);
  const both = (pool: number) => ({ workers: 1, pools: [id(pool)], isCircle: true });
  const found = [...waits(all)];
  assert.deepEqual(found, [
    [id(1), both(2)],
    [id(2), both(1)],
    [id(3), both(1)],
  ]);
});

test('[C18] a wait that ends is no circle, and who has a free worker does not wait', () => {
  const all = pools(1, 2, 3);
  ask(all, 1, 2);
  ask(all, 2, 3);
  const { client } = all.get(id(1)) ?? assert.fail();
  client.submit(client.asset(), 'next');
  for (const { rig } of all.values()) rig.settle();
  assert.deepEqual(
    [...waits(all)],
    [1, 2].map((one) => [id(one), { workers: 1, pools: [id(one + 1)], isCircle: false }]),
  );
  all.get(id(1))?.rig.worker('n2:1[1]#1');
  all.get(id(1))?.rig.settle();
  assert.deepEqual([...waits(all).keys()], [id(2)]);
});

test('[C18] the words name the pools and the way out', () => {
  const nameOf = (pool: JobId) => (pool === 8 ? 'sums' : `${pool}`);
  const one = sayPoolWait({ workers: 1, pools: [id(8)], isCircle: false }, nameOf);
  assert.equal(one, 'its worker is in a call that waits for calls of pool sums');
  const all = sayPoolWait({ workers: 2, pools: [id(7), id(8)], isCircle: true }, nameOf);
  assert.match(all, /^its 2 workers are all in calls that wait for calls of pools 7, sums, and /);
  assert.match(all, /none goes on\. .*weft pool scale 7 --max COUNT/);
});
