// Clients and workers that break the rules of their lines: they are cut off with a reason, and what
// they had settles.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALL_WINDOW_CALLS } from '../../../../../src/kernel/model/limits.ts';
import type {
  ClientToRouter,
  RouterToClient,
  RouterToWorker,
  WorkerToRouter,
} from '../../../../../src/wings/calls/core/messages.ts';
import type { Peer } from '../../../../../src/wings/calls/core/peer.ts';
import { PLAIN_CALL } from '../plain-call.ts';
import { bytesOf, Rig, sha256 } from './rig.ts';

/** What the router says on a line, and whether it has cut it. */
class Heard<M extends { kind: string }> implements Peer<M> {
  readonly messages: M[] = [];
  isClosed = false;
  readonly isBehind = false;
  send(message: M): void {
    this.messages.push(message);
  }
  close(): void {
    this.isClosed = true;
  }
  get detail(): string | null {
    const last = this.messages.at(-1) as { kind: string; detail?: string } | undefined;
    return this.isClosed && last?.kind === 'closing' ? (last.detail ?? null) : null;
  }
}

const HELLO: ClientToRouter = {
  kind: 'hello',
  session: 'a'.repeat(32),
  generation: null,
  detach: false,
  label: 'liar',
};
const CODE = bytesOf('code');
const ASSET: ClientToRouter = {
  kind: 'asset',
  asset: 1,
  sha256: sha256(CODE),
  size: CODE.length,
  bytes: CODE,
};
function call(number: number, change: object = {}): ClientToRouter {
  return {
    ...PLAIN_CALL,
    call: number,
    payload: { inline: CODE },
    ...change,
  } as ClientToRouter;
}

/** Why a client is cut that says this. */
function clientCut(...messages: readonly ClientToRouter[]): string | null {
  const rig = new Rig();
  const peer = new Heard<RouterToClient>();
  rig.router.openClient(peer, rig.now).take(messages, rig.now);
  return peer.detail;
}

test('[C10] a client that breaks a rule is cut off with the reason', () => {
  assert.equal(clientCut(HELLO, ASSET, call(1)), null);
  assert.equal(clientCut(ASSET), "'asset' before hello");
  assert.equal(clientCut(HELLO, HELLO), 'a second hello');
  assert.match(clientCut(HELLO, call(1)) ?? '', /was not announced/);
  assert.match(clientCut(HELLO, ASSET, call(1), call(1)) ?? '', /call 1 twice/);
  assert.match(clientCut(HELLO, ASSET, call(0)) ?? '', /without number/);
  assert.match(clientCut(HELLO, ASSET, call(1, { shared: [7] })) ?? '', /was not announced/);
  assert.match(clientCut(HELLO, ASSET, call(1, { retriesMax: 1e6 })) ?? '', /retries/);
  const other = { ...ASSET, bytes: bytesOf('edoc') } as ClientToRouter;
  assert.match(clientCut(HELLO, other) ?? '', /are others/);
  assert.match(
    clientCut(HELLO, { ...ASSET, size: 2 ** 40, bytes: null } as never) ?? '',
    /the most/,
  );
  const many = Array.from({ length: CALL_WINDOW_CALLS + 1 }, (_, at) => call(at + 1));
  assert.match(clientCut(HELLO, ASSET, ...many) ?? '', /window/);
  assert.match(clientCut(HELLO, { kind: 'body', stream: 9, bytes: CODE }) ?? '', /never asked/);
});

/** A router with a call at a worker that is played by the test. */
function workerRig() {
  const rig = new Rig();
  const client = rig.client();
  const peer = new Heard<RouterToWorker>();
  const port = rig.router.openWorker(peer, rig.now);
  port.take([{ kind: 'hello', worker: 'n1:0#1', generation: null, held: [], over: [] }], rig.now);
  const one = client.submit(client.asset(), 'x');
  rig.settle();
  assert.equal(peer.messages.at(-1)?.kind, 'call');
  const say = (message: WorkerToRouter) => {
    port.take([message], rig.now);
    rig.settle();
  };
  return { rig, client, peer, port, say, one };
}

const REF = { session: 0, call: 1, attempt: 1 };

test('[C10] a worker that lies is cut off, and its calls settle', () => {
  const lies: readonly (readonly [WorkerToRouter, RegExp])[] = [
    [{ kind: 'started', ...REF, session: 9 }, /never told/],
    [{ kind: 'returned', calls: [{ session: 9, call: 1 }] }, /never told/],
    [{ kind: 'body', stream: 77, bytes: CODE }, /never asked for/],
    [{ kind: 'hello', worker: 'x', generation: null, held: [], over: [] }, /second hello/],
    [
      { kind: 'wanted', of: 'call', session: 0, id: 1, stream: 1, from: 100, upTo: 200 },
      /bytes from 100 of 1/,
    ],
    [
      { kind: 'wanted', of: 'call', session: 0, id: 1, stream: 1, from: 0, upTo: 2 ** 30 },
      /at once/,
    ],
  ];
  for (const [message, reason] of lies) {
    const { client, peer, say, one } = workerRig();
    say(message);
    assert.match(peer.detail ?? '', reason);
    assert.equal(client.how(one), 'worker_lost');
  }
});

test('[C10] what a worker says of calls that it does not have changes nothing', () => {
  const { client, peer, say, one } = workerRig();
  const result = { kind: 'result', ok: true, elapsedMs: 1, payload: { inline: CODE } } as const;
  say({ ...result, ...REF, call: 2 });
  say({ ...result, ...REF, attempt: 7 });
  assert.equal(client.ends.size, 0);
  assert.deepEqual(peer.messages.at(-1), { kind: 'ack', session: 0, calls: [2] });
  say({ ...result, ...REF });
  say({ ...result, ...REF });
  assert.equal(client.how(one), 'code');
});

test('bytes that break a rule on a line which a newer one has replaced blame nobody', () => {
  const { rig, client, peer, port, say, one } = workerRig();
  say({ kind: 'started', ...REF });
  const newer = new Heard<RouterToWorker>();
  const told = peer.messages.find((message) => message.kind === 'session');
  assert.ok(told?.kind === 'session');
  const { call, attempt } = REF;
  const held = [{ session: told.id, call, attempt, state: 'running' }] as const;
  const hello = { kind: 'hello', worker: 'n1:0#1', generation: null, held, over: [] } as const;
  rig.router.openWorker(newer, rig.now).take([hello], rig.now);
  assert.equal(peer.detail, 'the worker has another line');
  port.refuse('unknown kind 99', rig.now);
  rig.settle();
  assert.equal(client.how(one), undefined);
  assert.equal(newer.isClosed, false);
});

test('[C10] results that are larger than announced are not passed on', () => {
  const { client, peer, say, one } = workerRig();
  say({ kind: 'result', ok: true, elapsedMs: 1, payload: { size: 100_000 }, ...REF });
  const wanted = peer.messages.at(-1);
  assert.ok(wanted?.kind === 'wanted');
  say({ kind: 'body', stream: wanted.stream, bytes: new Uint8Array(100_001) });
  assert.match(peer.detail ?? '', /more bytes/);
  assert.equal(client.how(one), 'worker_lost');
});

test('[C10] bytes that are no frame cut the line', () => {
  const rig = new Rig();
  const peer = new Heard<RouterToClient>();
  const port = rig.router.openClient(peer, rig.now);
  port.refuse('unknown kind 99', rig.now);
  assert.equal(peer.detail, 'unknown kind 99');
  port.take([HELLO], rig.now);
  assert.equal(rig.router.view(rig.now).clients.length, 0);
});
