// A router that does what a test says, behind a real WebSocket on a unix socket, and the worker
// process that dials it.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type WebSocket, WebSocketServer } from 'ws';
import type {
  RouterToWorker,
  WorkerToRouter,
} from '../../../../../../src/wings/calls/core/messages.ts';
import {
  type Captured,
  capture,
  packArguments,
  unpackResult,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import {
  FrameWriter,
  ROUTER_TO_WORKER,
  readFrame,
  WORKER_TO_ROUTER,
} from '../../../../../../src/wings/calls/wire/call-frames.ts';

type Message<K extends WorkerToRouter['kind']> = Extract<WorkerToRouter, { kind: K }>;
type End = Message<'result' | 'lost' | 'timed_out' | 'cancelled' | 'refused'>;
// biome-ignore lint/suspicious/noExplicitAny: functions of any shape are called here.
type Any = any;

export const SESSION = 'a'.repeat(32);
const PIECE = 256 * 1024;

export interface FakeRouter extends AsyncDisposable {
  readonly worker: ChildProcess;
  /** For files of the worker. */
  readonly folder: string;
  readonly exited: Promise<number | null>;
  readonly stderr: () => string;
  readonly heard: WorkerToRouter[];
  readonly authorization: () => string;
  send(...messages: RouterToWorker[]): void;
  /** The first message, past or to come, that fits; it is taken out of `heard`. */
  next<K extends WorkerToRouter['kind']>(
    kind: K,
    fits?: (message: Message<K>) => boolean,
  ): Promise<Message<K>>;
  /** Tells the session; on every new line. */
  greet(): void;
  cut(): void;
  call(fn: Any, args: unknown[], options?: { timeoutMs?: number }): { call: number };
  end(of: { call: number }): Promise<End>;
  value(of: { call: number }): Promise<unknown>;
}

export async function startWorker(extra: object = {}): Promise<FakeRouter> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-router-'));
  const socketPath = join(folder, 'head.sock');
  const heard: WorkerToRouter[] = [];
  const waiting: { fits: (message: WorkerToRouter) => boolean; take: (message: Any) => void }[] =
    [];
  const bodies = new Map<string, Uint8Array>();
  const streams = new Map<number, { bytes: Uint8Array; sent: number }>();
  const incoming = new Map<number, Uint8Array[]>();
  const numbers = new Map<string, number>();
  const writer = new FrameWriter<RouterToWorker>(ROUTER_TO_WORKER);
  let line: WebSocket | null = null;
  let authorization = '';
  let text = '';
  let calls = 0;
  let streamCount = 1000;

  const send = (...messages: RouterToWorker[]): void => {
    for (const message of messages) writer.add(message);
    line?.send(writer.take());
  };
  const pump = (stream: number, upTo: number): void => {
    const one = streams.get(stream);
    while (one !== undefined && one.sent < Math.min(upTo, one.bytes.length)) {
      const end = Math.min(one.sent + PIECE, upTo, one.bytes.length);
      send({ kind: 'body', stream, bytes: one.bytes.subarray(one.sent, end) });
      one.sent = end;
    }
  };
  const take = (message: WorkerToRouter): void => {
    if (message.kind === 'wanted') {
      const bytes = bodies.get(`${message.of}${message.id}`) ?? new Uint8Array();
      streams.set(message.stream, { bytes, sent: message.from });
      return pump(message.stream, message.upTo);
    }
    if (message.kind === 'returned' && message.calls.length === 0) return send({ kind: 'leave' });
    if (message.kind === 'more') return pump(message.stream, message.upTo);
    if (message.kind === 'body' && incoming.has(message.stream)) {
      incoming.get(message.stream)?.push(message.bytes);
      const got = incoming.get(message.stream)?.reduce((sum, { length }) => sum + length, 0) ?? 0;
      send({ kind: 'more', stream: message.stream, upTo: got + 2 ** 21 });
    }
    const at = waiting.findIndex(({ fits }) => fits(message));
    if (at < 0) heard.push(message);
    else waiting.splice(at, 1)[0]?.take(message);
  };

  const http = createServer();
  const server = new WebSocketServer({ server: http, path: '/v1/pools/7/work' });
  server.on('connection', (socket, request) => {
    line = socket;
    authorization = request.headers.authorization ?? '';
    socket.on('message', (data: Buffer) => {
      const messages = readFrame<WorkerToRouter>(WORKER_TO_ROUTER, data);
      if (!messages.ok) throw new Error(messages.error);
      for (const message of messages.value) take(message);
    });
  });
  await new Promise<void>((resolve) => http.listen(socketPath, resolve));

  const program = fileURLToPath(new URL('../../../../../../bin/weft-worker.cjs', import.meta.url));
  const said = { head: { socketPath }, epochId: '7#1', key: 'secret', worker: 'n1:7#1', ...extra };
  const worker = spawn(process.execPath, [program], {
    env: { ...process.env, TMPDIR: folder, WEFT_POOL: '7', WEFT_CALLS: JSON.stringify(said) },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  worker.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => worker.once('exit', resolve));

  const next: FakeRouter['next'] = (kind, fits = () => true) => {
    const isIt = (message: WorkerToRouter) => message.kind === kind && fits(message as Any);
    const at = heard.findIndex(isIt);
    if (at >= 0) return Promise.resolve(heard.splice(at, 1)[0] as Any);
    return new Promise((resolve) => waiting.push({ fits: isIt, take: resolve }));
  };
  const sendAsset = ({ sha256, code }: Captured): number => {
    const known = numbers.get(sha256);
    const asset = known ?? numbers.size + 1;
    if (known === undefined) {
      numbers.set(sha256, asset);
      bodies.set(`asset${asset}`, code);
      const bytes = code.length <= 65_536 ? code : null;
      send({ kind: 'asset', asset, sha256, size: code.length, bytes });
    }
    return asset;
  };
  const end: FakeRouter['end'] = ({ call }) => {
    const kinds = ['result', 'lost', 'timed_out', 'cancelled', 'refused'];
    const isIt = (message: WorkerToRouter) =>
      kinds.includes(message.kind) && (message as End).call === call;
    const at = heard.findIndex(isIt);
    if (at >= 0) return Promise.resolve(heard.splice(at, 1)[0] as End);
    return new Promise((resolve) => waiting.push({ fits: isIt, take: resolve }));
  };
  const wholeOf = async (call: number, size: number): Promise<Uint8Array> => {
    const stream = streamCount++;
    incoming.set(stream, []);
    send({ kind: 'wanted', session: 1, call, stream, from: 0, upTo: 2 ** 21 });
    const got = () => incoming.get(stream)?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    while (got() < size) await next('body', (message) => message.stream === stream);
    return Buffer.concat(incoming.get(stream) ?? []);
  };
  return {
    worker,
    folder,
    exited,
    heard,
    send,
    next,
    end,
    stderr: () => text,
    authorization: () => authorization,
    greet: () => {
      numbers.clear();
      send(
        { kind: 'welcome', generation: 'g1', heartbeatMs: 2000 },
        { kind: 'session', session: 1, id: SESSION },
      );
    },
    cut: () => line?.terminate(),
    call: (fn, args, { timeoutMs = 0 } = {}) => {
      const asset = sendAsset(typeof fn === 'function' ? capture(fn) : fn);
      const call = ++calls;
      const { bytes } = packArguments(args);
      bodies.set(`call${call}`, bytes);
      const payload = bytes.length <= 65_536 ? { inline: bytes } : { size: bytes.length };
      const ref = { session: 1, call, asset, shared: [], attempt: 1, timeoutMs };
      send({ kind: 'call', ...ref, payload });
      return { call };
    },
    value: async (of) => {
      const message = await end(of);
      if (message.kind !== 'result') throw new Error(JSON.stringify(message));
      const { payload } = message;
      const bytes = 'inline' in payload ? payload.inline : await wholeOf(of.call, payload.size);
      const value = unpackResult(bytes);
      if (!message.ok) throw value;
      return value;
    },
    [Symbol.asyncDispose]: async () => {
      worker.kill('SIGKILL');
      await exited;
      for (const socket of server.clients) socket.terminate();
      http.close();
      rmSync(folder, { recursive: true });
    },
  };
}
