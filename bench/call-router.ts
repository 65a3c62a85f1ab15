// What a call costs the router of a pool with its codec: frames of a client and of workers in,
// frames out, without sockets and without processes. Prints one JSON line per figure.

import { createHash } from 'node:crypto';
import type { RouterToWorker, WorkerToRouter } from '../src/wings/calls/core/messages.ts';
import type { Peer } from '../src/wings/calls/core/peer.ts';
import { Router } from '../src/wings/calls/core/router/router.ts';
import {
  CLIENT_TO_ROUTER,
  FrameWriter,
  ROUTER_TO_CLIENT,
  ROUTER_TO_WORKER,
  readFrame,
  WORKER_TO_ROUTER,
} from '../src/wings/calls/wire/call-frames.ts';

const calls = Number(process.argv[2] ?? 1_000_000);
const workers = Number(process.argv[3] ?? 2);
/** Calls that the client has open at a time. */
const IN_FLIGHT = 1000;
const PAYLOAD = new Uint8Array(100);

const now = (): number => performance.now();
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const router = new Router(
  {
    generation: 'g',
    losses: 0,
    workers: [],
    crashLimit: 3,
    min: workers,
    max: workers,
    idleMs: 1e9,
    newHash: () => createHash('sha256'),
  },
  now(),
);

/** A peer that gathers a frame. */
function peerOf<M extends { kind: string }>(writer: FrameWriter<M>): Peer<M> {
  return { send: (message) => writer.add(message), close: () => undefined, isBehind: false };
}

/** Time spent in decoding, deciding and encoding: what the head does. */
let spentUs = 0;
function timed<T>(work: () => T): T {
  const from = process.threadCpuUsage();
  const result = work();
  const { user, system } = process.threadCpuUsage(from);
  spentUs += user + system;
  return result;
}

function value<T>(read: { ok: true; value: T } | { ok: false; error: string }): T {
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

const toClient = new FrameWriter(ROUTER_TO_CLIENT);
const client = router.openClient(peerOf(toClient), now());
const fromClient = new FrameWriter(CLIENT_TO_ROUTER);
const lines = Array.from({ length: workers }, (_, at) => {
  const to = new FrameWriter(ROUTER_TO_WORKER);
  const port = router.openWorker(peerOf(to), now());
  const hello = {
    kind: 'hello',
    worker: `n:${at}#1`,
    generation: null,
    held: [],
    over: [],
  } as const;
  port.take([hello], now());
  return { to, port, from: new FrameWriter(WORKER_TO_ROUTER) };
});

/** A worker that ends each call at once. */
function answer(from: FrameWriter<WorkerToRouter>, message: RouterToWorker): void {
  if (message.kind !== 'call') return;
  const { session, call, attempt } = message;
  const payload = { inline: PAYLOAD };
  from.add({ kind: 'result', session, call, attempt, ok: true, elapsedMs: 0.01, payload });
}

let next = 1;
let done = 0;
function submit(): void {
  fromClient.add({
    kind: 'call',
    call: next,
    asset: 1,
    retriesMax: 0,
    timeoutMs: 0,
    since: null,
    attempt: 0,
    shared: [],
    payload: { inline: PAYLOAD },
  });
  next += 1;
}

const hello = { kind: 'hello', session: 'a'.repeat(32), generation: null, detach: false } as const;
fromClient.add({ ...hello, label: 'bench' });
fromClient.add({ kind: 'asset', asset: 1, sha256: sha256(PAYLOAD), size: 100, bytes: PAYLOAD });
while (next <= IN_FLIGHT) submit();

function turn(): void {
  if (fromClient.bytes > 0) {
    const frame = fromClient.take();
    timed(() => client.take(value(readFrame(CLIENT_TO_ROUTER, frame)), now()));
  }
  for (const { to, port, from } of lines) {
    if (to.bytes === 0) continue;
    const frame = timed(() => to.take());
    for (const message of value(readFrame(ROUTER_TO_WORKER, frame))) answer(from, message);
    if (from.bytes === 0) continue;
    const results = from.take();
    timed(() => port.take(value(readFrame(WORKER_TO_ROUTER, results)), now()));
  }
  if (toClient.bytes === 0) return;
  const frame = timed(() => toClient.take());
  const acks: number[] = [];
  for (const message of value(readFrame(ROUTER_TO_CLIENT, frame))) {
    if (message.kind === 'result') acks.push(message.call);
  }
  done += acks.length;
  if (acks.length > 0) fromClient.add({ kind: 'ack', calls: acks });
  for (let at = 0; at < acks.length && next <= calls; at += 1) submit();
}

const print = (figure: string, unit: string, n: number): void =>
  console.log(
    JSON.stringify({ peer: 'weft', figure, unit, n: calls, value: Number(n.toFixed(2)) }),
  );
const before = process.memoryUsage();
const from = now();
while (done < calls) turn();
const seconds = (now() - from) / 1000;
const grown = process.memoryUsage().heapUsed - before.heapUsed;
print('router_us_per_call', 'us', spentUs / calls);
print('router_loop_calls_per_s', 'calls/s', calls / seconds);
print('router_heap_growth', 'MiB', grown / 1_048_576);
