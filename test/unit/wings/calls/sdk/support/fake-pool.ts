// A head with one pool, in this process: its routes as far as the library uses them, the real
// router over real WebSockets on a unix socket, and workers whose calls run here.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RouterToClient } from '../../../../../../src/wings/calls/core/messages.ts';
import { bytesOf } from '../../../../../../src/wings/calls/core/near.ts';
import type { Peer } from '../../../../../../src/wings/calls/core/peer.ts';
import { Router } from '../../../../../../src/wings/calls/core/router/router.ts';
import type {
  ChildCall,
  WorkerPort,
} from '../../../../../../src/wings/calls/core/worker/entries.ts';
import { WorkerSession } from '../../../../../../src/wings/calls/core/worker/worker-session.ts';
import {
  packResult,
  packThrown,
  releaseWhole,
  unpackArguments,
  unpackShared,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { readBrought } from '../../../../../../src/wings/calls/functions/serialization/variables.ts';
import {
  CLIENT_TO_ROUTER,
  FrameWriter,
  ROUTER_TO_CLIENT,
  readFrame,
} from '../../../../../../src/wings/calls/wire/call-frames.ts';

const now = (): number => performance.now();
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export class FakePool {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'weft-pool-test-'));
  readonly socket = path.join(this.directory, 'weft.sock');
  readonly asked: Asked[] = [];
  readonly workers: FakeWorker[] = [];
  router: Router;
  /** Answers of routes: status and JSON, by `METHOD /path`. */
  readonly answers: Record<string, readonly [status: number, json: unknown]> = {
    'GET /v1/whoami': [200, { name: 'alice' }],
    'POST /v1/pools': [200, { jobId: 7, name: null, again: false }],
    'DELETE /v1/pools/7': [200, { count: 1 }],
    'PATCH /v1/pools/7': [200, {}],
  };
  readonly #sockets = new Set<WebSocket>();
  readonly #ticking: NodeJS.Timeout;
  #server: Server | null = null;
  #generation = 0;
  #challenges = 0;
  #losses = 0;

  private constructor() {
    this.router = this.#newRouter();
    this.#ticking = setInterval(() => {
      this.router.tick(now());
      for (const worker of this.workers) worker.session.tick(now());
    }, 10);
  }

  static async start(workers = 1): Promise<FakePool> {
    const pool = new FakePool();
    for (let at = 0; at < workers; at += 1) pool.addWorker();
    await pool.listen();
    return pool;
  }

  addWorker(): FakeWorker {
    const worker = new FakeWorker(`n1:${this.workers.length}#1`);
    this.workers.push(worker);
    worker.connect(this.router);
    return worker;
  }

  /** A worker's epoch has ended. */
  kill(worker: FakeWorker): void {
    this.#losses += 1;
    this.workers.splice(this.workers.indexOf(worker), 1);
    worker.isGone = true;
    this.router.workerGone(worker.name, 'lost', now());
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    const upgrades = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request, stream, head) => {
      const refused = this.answers[`GET ${request.url}`];
      if (refused !== undefined) {
        const text = JSON.stringify(refused[1]);
        stream.end(`HTTP/1.1 ${refused[0]} No\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
        return;
      }
      upgrades.handleUpgrade(request, stream, head, (socket) => this.#open(socket));
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.socket, resolve));
  }

  /** The head is gone: socket, lines and all that the router knew. */
  async crash(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
    for (const worker of this.workers) worker.cut();
    this.#generation += 1;
    this.router = this.#newRouter();
  }

  /** The pool is back, and its workers find it. */
  async restart(): Promise<void> {
    for (const worker of this.workers) worker.connect(this.router);
    await this.listen();
  }

  /** Lines of clients break; the router stays. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /** A message to all clients that is none. */
  sendGarbage(): void {
    for (const socket of this.#sockets) socket.send(Buffer.from([255, 1, 2, 3]));
  }

  async close(): Promise<void> {
    clearInterval(this.#ticking);
    await this.crash();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #newRouter(): Router {
    const workers = this.workers.map(({ name }) => name);
    const options = { generation: `g${this.#generation}`, losses: this.#losses, workers };
    const newHash = () => createHash('sha256');
    return new Router(
      { ...options, crashLimit: 3, min: 0, max: 10, idleMs: 60_000, newHash },
      now(),
    );
  }

  #open(socket: WebSocket): void {
    this.#sockets.add(socket);
    const { router } = this;
    const port = router.openClient(peerOf(socket), now());
    socket.on('message', (bytes) => {
      const read = readFrame(CLIENT_TO_ROUTER, bytes as Buffer);
      if (read.ok) port.take(read.value, now());
      else port.refuse(read.error, now());
    });
    socket.on('close', () => {
      this.#sockets.delete(socket);
      port.gone(now());
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const { method = '', url = '' } = request;
    const body = text === '' ? undefined : JSON.parse(text);
    const [status, json] = this.#answer(`${method} ${url}`);
    if (!url.startsWith('/v1/auth')) this.asked.push({ method, path: url, body });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
  }

  #answer(route: string): readonly [number, unknown] {
    if (route.endsWith('/local/begin')) {
      this.#challenges += 1;
      const name = `challenge${this.#challenges}`;
      return [200, { challenge: 'x', path: path.join(this.directory, name) }];
    }
    if (route.endsWith('/local/finish')) return [200, { token: 't', user: 'alice', expiresAt: 0 }];
    return this.answers[route] ?? [404, refusal('pool.not_found', 'not_found', 'There is none.')];
  }
}

export function refusal(code: string, kind: string, message: string) {
  return { error: { code, kind, message, details: {}, hint: null } };
}

function peerOf(socket: WebSocket): Peer<RouterToClient> {
  const writer = new FrameWriter<RouterToClient>(ROUTER_TO_CLIENT);
  const flush = (): void => {
    if (writer.bytes > 0 && socket.readyState === socket.OPEN) socket.send(writer.take());
  };
  return {
    isBehind: false,
    send: (message) => {
      if (writer.bytes === 0) setImmediate(flush);
      writer.add(message);
      if (writer.isFull) flush();
    },
    close: () => {
      flush();
      socket.close();
    },
  };
}

/** A worker whose calls run in this process. */
export class FakeWorker implements WorkerPort {
  readonly name: string;
  readonly session: WorkerSession;
  readonly #assets = new Map<string, Uint8Array>();

  get assetCount(): number {
    return this.#assets.size;
  }

  readonly #queue: ChildCall[] = [];
  /** Calls that it has started, by function and attempt. */
  started = 0;
  isGone = false;
  #isBusy = false;
  #child = 0;
  #aborts = new Map<number, AbortController>();
  #line: { gone(): void } | null = null;

  constructor(name: string) {
    this.name = name;
    this.session = new WorkerSession({ worker: name, sha256 }, this, now());
    this.session.childReady(now());
  }

  connect(router: Router): void {
    // Without frames: those are tested elsewhere.
    const later = <M>(take: (messages: readonly M[], at: number) => void) => ({
      isBehind: false,
      close: () => undefined,
      send: (message: M) => {
        setImmediate(() => {
          if (!this.isGone && this.#line === line) take([message], now());
        });
      },
    });
    const line: { gone(): void } = { gone: () => undefined };
    this.#line = line;
    let toWorker: (messages: never, at: number) => void = () => undefined;
    const port = router.openWorker(
      later((messages, at) => toWorker(messages as never, at)),
      now(),
    );
    const end = this.session.open(
      later((messages, at) => port.take(messages as never, at)),
      now(),
    );
    toWorker = end.take as never;
    line.gone = () => end.gone();
  }

  cut(): void {
    this.#line?.gone();
    this.#line = null;
  }

  /** No program here runs in a call. */
  seat(): never {
    throw new Error('no inner calls here');
  }

  startChild(): void {
    this.#child += 1;
    this.#isBusy = false;
    this.#queue.length = 0;
    setImmediate(() => this.session.childReady(now()));
  }
  killChild(): void {
    setImmediate(() => this.session.childDied('signal SIGKILL', now()));
  }
  load(hash: string, bytes: Uint8Array): void {
    this.#assets.set(hash, Uint8Array.from(bytes));
  }
  run(call: ChildCall): void {
    this.#queue.push({ ...call, payload: Uint8Array.from(bytesOf(call.payload)) });
    void this.#work();
  }
  takeBack(runs: readonly number[]): void {
    const back = this.#queue.filter(({ run }) => runs.includes(run));
    for (const one of back) this.#queue.splice(this.#queue.indexOf(one), 1);
    setImmediate(() =>
      this.session.childGaveBack(
        back.map(({ run }) => run),
        now(),
      ),
    );
  }
  abort(run: number): void {
    this.#aborts.get(run)?.abort();
  }
  exit(): void {}

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const child = this.#child;
    for (let call = this.#queue.shift(); call !== undefined; call = this.#queue.shift()) {
      if (this.isGone) return;
      this.started += 1;
      this.session.childStarting(call.run, now());
      const end = await this.#perform(call);
      if (this.isGone || child !== this.#child) return;
      if (end === 'dead') {
        this.session.childDied('signal SIGSEGV', now());
        return;
      }
      this.session.childEnded({ run: call.run, ...end }, now());
    }
    this.#isBusy = false;
  }

  async #perform({ code, payload, run }: ChildCall) {
    const shared = (hash: string): unknown => unpackShared(this.#bytes(hash));
    try {
      const { variables, args } = readBrought(Buffer.from(bytesOf(payload)));
      const { fn, made } = releaseWhole(this.#bytes(code), shared);
      const callee = variables === null ? fn : (made as NonNullable<typeof made>)(variables);
      const value = await callee(...unpackArguments(args, shared));
      if (value === 'die') return 'dead' as const;
      if (typeof value === 'object' && value !== null && 'says' in value) {
        this.session.childProgress(run, packResult(value.says));
        if ('garbles' in value) this.session.childProgress(run, Buffer.from('no value'));
      }
      return { ok: true, bytes: packResult(value) };
    } catch (error) {
      return { ok: false, bytes: packThrown(error) };
    }
  }

  #bytes(hash: string): Uint8Array {
    const bytes = this.#assets.get(hash);
    if (bytes === undefined) throw new Error(`the asset ${hash} was not loaded`);
    return bytes;
  }
}
