// Large values of programs and workers on one machine: through memory that both can read, and over
// the line wherever that is not so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NearBytes } from '../../../../../src/wings/calls/core/near.ts';
import { Rig } from './rig.ts';

const LARGE = 'x'.repeat(300_000);

/** Memory as all on one machine share it. */
class Memory implements NearBytes {
  readonly open = new Map<string, Uint8Array>();
  offers = 0;
  reads = 0;
  isFull = false;
  isLost = false;

  offer(bytes: Uint8Array) {
    if (this.isFull) return null;
    this.offers += 1;
    const file = `file ${this.offers}`;
    this.open.set(file, bytes);
    return { file, close: () => void this.open.delete(file) };
  }

  read(file: string, into: Uint8Array): boolean {
    const bytes = this.open.get(file);
    if (bytes === undefined || this.isLost) return false;
    this.reads += 1;
    into.set(bytes);
    return true;
  }
}

function world(host: Rig['host'] = () => 'a') {
  const rig = new Rig();
  const memory = new Memory();
  rig.near = memory;
  rig.host = host;
  const client = rig.client();
  const worker = rig.worker();
  return { rig, memory, client, worker, asset: client.asset() };
}

test('[C20] large arguments and results of one machine go through its memory', () => {
  const { memory, client, worker, asset } = world();
  const calls = [1, 2, 3].map(() => client.submit(asset, LARGE));
  worker.work();
  for (const call of calls) assert.equal(client.how(call), `did ${LARGE}`);
  assert.deepEqual([memory.offers, memory.reads, memory.open.size], [6, 6, 0]);
});

test('[C20] small values, and those of other machines, go over the line', () => {
  for (const host of [
    (side: string) => side,
    () => null,
    (side: string) => (side === 'client' ? null : 'a'),
  ]) {
    const { memory, client, worker, asset } = world(host);
    const call = client.submit(asset, LARGE);
    worker.work();
    assert.equal(client.how(call), `did ${LARGE}`);
    assert.equal(memory.offers, 0);
  }
  const { memory, client, worker, asset } = world();
  const call = client.submit(asset, 'small');
  worker.work();
  assert.deepEqual([client.how(call), memory.offers], ['did small', 0]);
});

test('[C20] where the memory is full the value goes over the line', () => {
  const { memory, client, worker, asset } = world();
  memory.isFull = true;
  const call = client.submit(asset, LARGE);
  worker.work();
  assert.deepEqual([client.how(call), memory.offers], [`did ${LARGE}`, 0]);
});

test('[C20] a value that is not where it is said to be comes over the next line', () => {
  let host: string | null = 'a';
  const { rig, memory, client, worker, asset } = world(() => host);
  memory.isLost = true;
  const call = client.submit(asset, LARGE);
  rig.settle();
  assert.equal(worker.runs.length, 0);
  assert.equal(memory.open.size, 0, 'nobody wants what was offered on a line that is gone');
  host = null;
  worker.connect();
  worker.work();
  assert.equal(client.how(call), `did ${LARGE}`);
});

test('[C20] whoever says so unasked is cut off', () => {
  const { rig, client, worker, asset } = world();
  const port = rig.router.openClient(
    { send: (message) => said.push(message.kind), close: () => undefined, isBehind: false },
    rig.now,
    { host: 'a' },
  );
  const said: string[] = [];
  const hello = { session: 'c'.repeat(32), generation: null, detach: false, label: '' };
  port.take([{ kind: 'hello', ...hello }], rig.now);
  port.take([{ kind: 'near', stream: 1, file: '1.2.3' }], rig.now);
  assert.equal(said.at(-1), 'closing');
  const call = client.submit(asset, 'fine');
  worker.work();
  assert.equal(client.how(call), 'did fine');
});

test('[C20] a call that ends otherwise leaves nothing in the memory', () => {
  const { rig, memory, client, worker, asset } = world();
  const call = client.submit(asset, LARGE);
  rig.settle();
  worker.start();
  worker.end(LARGE);
  client.line?.cut();
  rig.settle();
  assert.equal(memory.open.size, 0);
  client.connect();
  rig.settle();
  assert.equal(client.how(call), LARGE);
  assert.equal(memory.open.size, 0);
});
