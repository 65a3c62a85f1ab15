// What the router keeps: no more than the calls need, and nothing of what is over.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { CALL_PIECE_BYTES_MAX, CALL_WINDOW_CALLS } from '../../../../../src/kernel/model/limits.ts';
import type {
  ClientToRouter,
  RouterToClient,
} from '../../../../../src/wings/calls/core/messages.ts';
import { AssetRoom } from '../../../../../src/wings/calls/core/router/asset-room.ts';
import { PLAIN_CALL } from '../plain-call.ts';
import { bytesOf, Rig, sha256 } from './rig.ts';

test('[C5] a small call that waits keeps its own bytes, not the frame that it came in', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  client.submit(asset, 'x'.repeat(60_000));
  for (let at = 0; at < 1000; at += 1) client.submit(asset, `${at}`);
  rig.settle();
  const { sessions, assets } = rig.router.state;
  const calls = [...sessions.values()].flatMap((session) => [...session.calls.values()]);
  const kept = [...calls.map(({ inline }) => inline), ...[...assets.values()].map((a) => a.bytes)];
  assert.equal(kept.length, 1002);
  for (const bytes of kept) {
    assert.ok(bytes !== null);
    const { byteLength } = bytes.buffer;
    assert.ok(byteLength <= 2 * bytes.length + 1024, `${byteLength} for ${bytes.length}`);
  }
});

test('[C5] results of a client that is away keep their own bytes', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  for (const text of ['x', 'y']) client.submit(asset, text);
  rig.settle();
  client.line?.cut();
  worker.start();
  worker.end('small');
  worker.work();
  const [session] = [...rig.router.state.sessions.values()];
  const ends = [...(session?.calls.values() ?? [])].map(({ end }) => end);
  assert.equal(ends.length, 2);
  for (const end of ends) {
    assert.ok(end?.kind === 'result' && 'inline' in end.payload);
    assert.ok(end.payload.inline.buffer.byteLength < 100);
  }
});

test('[C5] a client that cancels its calls and takes none of their ends gets no more room', () => {
  const rig = new Rig();
  const heard: RouterToClient[] = [];
  let isClosed = false;
  const port = rig.router.openClient(
    { send: (message) => heard.push(message), close: () => (isClosed = true), isBehind: false },
    rig.now,
  );
  const say = (...messages: ClientToRouter[]): void => port.take(messages, rig.now);
  const bytes = bytesOf('code');
  say(
    {
      kind: 'hello',
      session: 'a'.repeat(32),
      generation: null,
      detach: false,
      label: '',
    },
    { kind: 'asset', asset: 1, sha256: sha256(bytes), size: bytes.length, bytes },
  );
  const call = (number: number): ClientToRouter => ({
    ...PLAIN_CALL,
    call: number,
    payload: { inline: bytes },
  });
  for (let number = 1; number <= CALL_WINDOW_CALLS; number += 1) {
    say(call(number), { kind: 'cancel', call: number });
  }
  assert.equal(heard.filter(({ kind }) => kind === 'settled').length, CALL_WINDOW_CALLS);
  assert.equal(heard.filter(({ kind }) => kind === 'taken').length, 0);
  say({ kind: 'ack', calls: [1] });
  assert.deepEqual(heard.at(-1), { kind: 'taken', calls: 1, bytes: bytes.length });
  say(call(CALL_WINDOW_CALLS + 1));
  assert.equal(isClosed, false);
  say(call(CALL_WINDOW_CALLS + 2));
  assert.equal(isClosed, true);
});

test('room is told with the end of a call, by a message of its own only when there is little', () => {
  const rig = new Rig();
  const heard: RouterToClient[] = [];
  const port = rig.router.openClient(
    { send: (message) => heard.push(message), close: () => undefined, isBehind: false },
    rig.now,
  );
  const worker = rig.worker();
  const bytes = bytesOf('code');
  const hello = {
    kind: 'hello',
    session: 'a'.repeat(32),
    generation: null,
    detach: false,
  } as const;
  const asset = { kind: 'asset', asset: 1, sha256: sha256(bytes), size: bytes.length } as const;
  port.take(
    [
      { ...hello, label: '' },
      { ...asset, bytes },
    ],
    rig.now,
  );
  const call = (number: number): ClientToRouter => ({
    ...PLAIN_CALL,
    call: number,
    payload: { inline: bytes },
  });
  heard.length = 0;
  port.take([call(1)], rig.now);
  assert.equal(heard.length, 0, 'nobody is woken for it');
  worker.work();
  assert.deepEqual(
    heard.map(({ kind }) => kind),
    ['result', 'taken'],
  );
  heard.length = 0;
  const many = Array.from({ length: CALL_WINDOW_CALLS - 1 }, (_, at) => call(at + 2));
  port.take(many, rig.now);
  assert.equal(heard[0]?.kind, 'taken');
});

test('[C5] a client that takes them has room for as many as it likes', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  for (let at = 0; at < 3 * CALL_WINDOW_CALLS; at += 1) {
    client.session.cancel(client.submit(asset, `${at}`));
    if (at % 100 === 0) rig.settle();
  }
  rig.settle();
  assert.equal(client.ends.size, 3 * CALL_WINDOW_CALLS);
  const [session] = [...rig.router.state.sessions.values()];
  assert.deepEqual([session?.calls.size, session?.windowCalls], [0, 0]);
});

test('[C6] functions that a client names no more on a new line are forgotten', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const { state } = rig.router;
  for (const text of ['one', 'two', 'three']) {
    client.submit(client.asset(text), text);
    worker.work();
    client.line?.cut();
    client.connect();
    rig.settle();
    assert.equal(state.assets.size, 0, text);
  }
  client.submit(client.asset('four'), 'kept');
  rig.settle();
  client.line?.cut();
  client.connect();
  rig.settle();
  assert.equal(state.assets.size, 1, 'an open call needs it');
  worker.work();
  client.session.close();
  rig.settle();
  assert.equal(state.assets.size, 0);
});

test('[C5] a large function is hashed piece by piece as it comes', () => {
  const sizes: number[] = [];
  const newHash = () => {
    const hash = createHash('sha256');
    return {
      update: (bytes: Uint8Array) => {
        sizes.push(bytes.length);
        hash.update(bytes);
      },
      digest: (encoding: 'hex') => hash.digest(encoding),
    };
  };
  const rig = new Rig({ newHash });
  const client = rig.client();
  const call = client.submit(client.asset('x'.repeat(3_000_000)), 'y');
  rig.worker().work();
  assert.equal(client.how(call), 'did y');
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    3_000_000,
  );
  assert.ok(Math.max(...sizes) <= CALL_PIECE_BYTES_MAX);
});

test('[C5] all pools of a head have one room for functions, and take it from each other', () => {
  const room = new AssetRoom(250_000);
  const rigs = [new Rig({ room }), new Rig({ room })];
  const large = (rig: Rig, letter: string): void => {
    const client = rig.client(letter);
    const call = client.submit(client.asset(letter.repeat(100_000)), 'x');
    rig.worker(`n1:${letter}#1`).work();
    rig.pass(100, 50);
    assert.equal(client.how(call), 'did x');
    assert.ok(room.bytes <= 250_000);
  };
  const [one, two] = rigs as [Rig, Rig];
  large(one, 'a');
  large(one, 'b');
  large(two, 'c');
  assert.equal(one.router.state.assetBytes + two.router.state.assetBytes, room.bytes);
  // Too large for the room while it is in use, and not for ever.
  one.router.close('stopped', one.now);
  assert.equal(room.bytes, two.router.state.assetBytes);
  large(two, 'd');
  large(two, 'e');
  two.router.close('stopped', two.now);
  assert.equal(room.bytes, 0);
});
