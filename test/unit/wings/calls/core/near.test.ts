// Large values of programs and workers on one machine: through memory that both can read, and over
// the line wherever that is not so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NearBytes, NearFile, NearFiles } from '../../../../../src/wings/calls/core/near.ts';
import { bytesOf, Rig } from './rig.ts';

const LARGE = 'x'.repeat(300_000);

/** Memory as all on one machine share it. */
class Memory implements NearBytes, NearFiles {
  readonly files = new Map<string, Uint8Array>();
  offers = 0;
  reads = 0;
  isFull = false;
  isLost = false;

  offer(bytes: Uint8Array) {
    if (this.isFull) return null;
    this.offers += 1;
    const file = `file ${this.offers}`;
    this.files.set(file, bytes);
    return { file, close: () => void this.files.delete(file) };
  }

  read(file: string, into: Uint8Array): boolean {
    const bytes = this.files.get(file);
    if (bytes === undefined || this.isLost) return false;
    this.reads += 1;
    into.set(bytes);
    return true;
  }

  /** The real one has it for workers that pass values on; everybody else reads. */
  open(): never {
    throw new Error('opened where it was to be read');
  }
}

/** What a worker holds open for its process, which reads it itself. */
class Held implements NearBytes, NearFiles {
  readonly #memory: Memory;
  count = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  offer(bytes: Uint8Array) {
    return this.#memory.offer(bytes);
  }

  read(file: string, into: Uint8Array): boolean {
    return this.#memory.read(file, into);
  }

  open(file: string, length: number): NearFile | null {
    const bytes = this.#memory.files.get(file);
    return bytes?.length !== length || this.#memory.isLost ? null : this.hold(bytes);
  }

  hold(bytes: Uint8Array): NearFile {
    this.count += 1;
    const file = `held ${this.count}`;
    let holders = 0;
    this.#memory.files.set(file, bytes);
    const lend = () => {
      holders += 1;
      const close = (): void => {
        holders -= 1;
        assert.ok(holders >= 0, 'each holder closes it once');
        if (holders === 0) this.#memory.files.delete(file);
      };
      return { file, close };
    };
    return { ...lend(), length: bytes.length, bytes: () => bytes, lend };
  }
}

/** Like `world`, with a worker whose process reads and writes values itself. */
function passing(host?: Rig['host']) {
  const memory = new Memory();
  const held = new Held(memory);
  return { ...world(host, memory, held), held };
}

function world(host: Rig['host'] = () => 'a', memory = new Memory(), held?: Held) {
  const rig = new Rig();
  rig.near = memory;
  rig.host = host;
  const client = rig.client();
  const worker = rig.worker('n1:0#1', held ?? memory, held);
  return { rig, memory, client, worker, asset: client.asset() };
}

test('[C20] large arguments and results of one machine go through its memory', () => {
  const { memory, client, worker, asset } = world();
  const calls = [1, 2, 3].map(() => client.submit(asset, LARGE));
  worker.work();
  for (const call of calls) assert.equal(client.how(call), `did ${LARGE}`);
  assert.deepEqual([memory.offers, memory.reads, memory.files.size], [6, 6, 0]);
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
  assert.equal(memory.files.size, 0, 'nobody wants what was offered on a line that is gone');
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
  assert.equal(memory.files.size, 0);
  client.connect();
  rig.settle();
  assert.equal(client.how(call), LARGE);
  assert.equal(memory.files.size, 0);
});

test('[C20] a worker passes values on as they lie in memory, and lets go of them', () => {
  const { memory, held, client, worker, rig, asset } = passing();
  const call = client.submit(asset, LARGE);
  rig.settle();
  const { payload } = worker.start();
  assert.ok(!(payload instanceof Uint8Array));
  assert.equal(payload.file, 'held 1');
  const result = `made of ${LARGE}`;
  worker.end(held.hold(bytesOf(result)));
  rig.settle();
  assert.equal(client.how(call), result);
  assert.deepEqual([memory.offers, memory.reads, memory.files.size], [1, 1, 0]);
});

test('[C20] what lies in memory goes over the line to another machine', () => {
  let isNear = true;
  const { memory, held, client, worker, rig, asset } = passing(() => (isNear ? 'a' : null));
  const call = client.submit(asset, LARGE);
  rig.settle();
  worker.start();
  isNear = false;
  client.line?.cut();
  worker.line?.cut();
  client.connect();
  worker.connect();
  rig.settle();
  worker.end(held.hold(bytesOf(LARGE)));
  rig.settle();
  assert.equal(client.how(call), LARGE);
  assert.deepEqual([memory.reads, memory.files.size], [0, 0]);
});

test('[C20] what is passed on is let go of however the call ends', () => {
  const ends: readonly ((world: ReturnType<typeof passing>, call: number) => void)[] = [
    ({ client }, call) => client.session.cancel(call),
    ({ client }) => client.session.close(),
    ({ worker }) => {
      worker.start();
      worker.die();
    },
    (all, call) => {
      all.worker.start();
      all.client.session.cancel(call);
      all.rig.settle();
      all.worker.end(all.held.hold(bytesOf(LARGE)));
    },
    ({ worker, held, client }) => {
      worker.start();
      worker.end(held.hold(bytesOf(LARGE)));
      client.session.close();
    },
  ];
  for (const end of ends) {
    const all = passing();
    const call = all.client.submit(all.asset, LARGE);
    all.rig.settle();
    end(all, call);
    all.rig.settle();
    all.worker.giveBack();
    all.rig.settle();
    assert.equal(all.memory.files.size, 0, String(end));
  }
});

test('[C20] a child that has died is given the same value again', () => {
  const { memory, client, worker, rig, asset } = passing();
  const calls = [client.submit(asset, LARGE), client.submit(asset, LARGE)];
  rig.settle();
  worker.start();
  worker.die();
  worker.work();
  assert.match(String(client.how(calls[0] as number)), /lost/);
  assert.equal(client.how(calls[1] as number), `did ${LARGE}`);
  assert.equal(memory.files.size, 0);
});

test('[C20] arguments are freed with their call, but for those that may wait on a line', () => {
  const { memory, client, worker, asset } = world();
  const submit = (payload: Uint8Array): void => {
    const call = { asset, shared: [], retriesMax: 0, timeoutMs: 0, payload };
    assert.ok(client.session.submit(call) !== null);
    worker.work();
  };
  const [near, far, small] = [bytesOf(LARGE), bytesOf(LARGE), bytesOf('small')];
  submit(near);
  memory.isFull = true;
  submit(far);
  submit(small);
  assert.equal(client.ends.size, 3);
  assert.deepEqual([near.length, far.length, small.length], [0, LARGE.length, 5]);
});
