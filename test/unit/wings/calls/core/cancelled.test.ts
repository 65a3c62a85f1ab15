// Calls that are cancelled while they wait: nothing of them is kept behind one that goes on
// waiting.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientToRouter } from '../../../../../src/wings/calls/core/messages.ts';
import { PLAIN_CALL } from '../plain-call.ts';
import { bytesOf, Rig, sha256 } from './rig.ts';

const MANY = 2000;
/** With one call open. */
const KEPT_MAX = 2 * 1 + 64 + 1;

test('[C5] cancelled calls behind one that waits leave the queue of the router', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  const first = client.submit(asset, 'first');
  for (let at = 0; at < MANY; at += 1) {
    client.session.cancel(client.submit(asset, `${at}`));
    if (at % 100 === 0) rig.settle();
  }
  const last = client.submit(asset, 'last');
  rig.settle();
  const [session] = [...rig.router.state.sessions.values()];
  assert.equal(session?.calls.size, 2);
  assert.ok(session.fresh.length <= KEPT_MAX + 100, `${session.fresh.length} are kept`);
  rig.worker().work();
  assert.deepEqual([client.how(first), client.how(last)], ['did first', 'did last']);
});

test('[C5] cancelled calls that were to be given once more leave their queue too', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  const calls = Array.from({ length: 500 }, (_, at) =>
    client.submit(asset, `${at}`, { retriesMax: 1 }),
  );
  rig.settle();
  client.line?.cut();
  // The router gives it up, and takes what it brings back for calls that may have run.
  for (let left = 60; left > 0 && rig.router.state.sessions.size > 0; left -= 1)
    rig.pass(60_000, 30_000);
  client.connect();
  rig.settle();
  const [session] = [...rig.router.state.sessions.values()];
  assert.equal(session?.again.size, 500);
  for (const call of calls.slice(1)) client.session.cancel(call);
  rig.settle();
  assert.equal(session.calls.size, 1);
  assert.ok(session.again.size <= KEPT_MAX, `${session.again.size} are kept`);
  rig.worker().work();
  assert.equal(client.how(calls[0] as number), 'did 0');
});

test('[C5] calls cancelled while the line is away leave the client, with their payloads', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  client.line?.cut();
  const first = client.submit(asset, 'first');
  for (let at = 0; at < MANY; at += 1) client.session.cancel(client.submit(asset, `${at}`));
  const last = client.submit(asset, 'last');
  assert.ok(client.session.unsentCalls <= KEPT_MAX, `${client.session.unsentCalls} are kept`);
  client.connect();
  rig.worker().work();
  assert.deepEqual([client.how(first), client.how(last)], ['did first', 'did last']);
});

test('[C5] sessions that are over leave the ring behind one whose calls wait', () => {
  const rig = new Rig();
  const waiting = rig.client('b');
  const call = waiting.submit(waiting.asset(), 'first');
  rig.settle();
  const { state } = rig.router;
  for (let at = 0; at < 300; at += 1) {
    const session = rawSession(rig, at.toString(16).padStart(32, '0'));
    session.say(session.call(1));
    const [kept] = [...state.sessions.values()].slice(-1);
    session.say({ kind: 'bye' });
    assert.equal(kept?.fresh.length, 0);
  }
  assert.ok(state.ring.length <= KEPT_MAX + 2, `${state.ring.length} are kept`);
  rig.worker().work();
  assert.equal(waiting.how(call), 'did first');
});

test('[C1] a call that its client does not name again is given to nobody', () => {
  const rig = new Rig();
  const id = 'a'.repeat(32);
  const first = rawSession(rig, id);
  first.say(first.call(1), first.call(2));
  rawSession(rig, id, rig.router.state.options.generation).say({ kind: 'synced' });
  assert.equal(rig.router.state.waiting, 0);
  const worker = rig.worker();
  rig.settle();
  assert.equal(worker.runs.length, 0);
  assert.equal(rig.router.state.waiting, 0);
});

/** A client that says what it likes. */
function rawSession(rig: Rig, id: string, generation: string | null = null) {
  const peer = { send: () => undefined, close: () => undefined, isBehind: false };
  const port = rig.router.openClient(peer, rig.now);
  const say = (...messages: ClientToRouter[]): void => port.take(messages, rig.now);
  const bytes = bytesOf('code');
  say({ kind: 'hello', session: id, generation, detach: false, label: '' });
  say({ kind: 'asset', asset: 1, sha256: sha256(bytes), size: bytes.length, bytes });
  const call = (number: number): ClientToRouter => ({
    ...PLAIN_CALL,
    call: number,
    payload: { inline: bytes },
  });
  return { say, call };
}
