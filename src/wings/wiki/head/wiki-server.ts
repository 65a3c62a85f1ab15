// The listener for schedulers that speak the Maui wiki protocol: one request per connection, and
// for whoever is slow, silent or too many one stated rule.

import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { type Bounds, Newcomers } from '../../../kernel/listeners/newcomers.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { WikiAnswers } from '../fabric/answer.ts';
import { wikiProblem } from '../fabric/codes.ts';
import { WikiReader } from '../fabric/reader.ts';
import type { Admission } from './admission.ts';
import { listenPrivately, type SocketPlace } from './private-socket.ts';

/** Like Slurm's: within this time a request has to be there whole, and its reply to be read. */
const PATIENCE_MS = 10_000;
/** Connections without a whole request: each may hold 2 MiB. A poller has one, and is quick. */
const BOUNDS: Bounds = { perAddress: 16, total: 32, local: 32, graceMs: 250 };
/** With those whose replies are on their way. */
const CONNECTIONS_MAX = 128;
/** Between two lines of the log about strangers. */
const STRANGERS_LOGGED_MS = 60_000;

export interface WikiListenerOptions {
  readonly at: SocketPlace | WikiPort;
  readonly answers: WikiAnswers;
  readonly log: Log;
  /** Default: 10 s. */
  readonly patienceMs?: number;
}

export interface WikiPort {
  readonly host: string;
  readonly port: number;
  /** The rule of who may connect. */
  readonly admission: Admission;
}

export interface WikiListener {
  /** Null when it is a unix socket. */
  readonly port: number | null;
  close(): Promise<void>;
}

/** Resolves when it listens; rejects with words when it cannot. */
export async function openWikiListener(options: WikiListenerOptions): Promise<WikiListener> {
  const { at, log } = options;
  const open = new Set<Socket>();
  const newcomers = new Newcomers(() => performance.now(), BOUNDS);
  const admit = admitBy(options);
  // Half open: the reply goes out whether or not the client has closed its side.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    newcomers.add(socket, 'path' in at);
    const conversation = new Conversation(socket, options, () => newcomers.proven(socket));
    void admit(socket, conversation);
  });
  server.maxConnections = CONNECTIONS_MAX;
  const leave = await listen(server, at);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : null;
  const where = 'path' in at ? { path: at.path } : { host: at.host, port };
  log.info(where, 'the listener for wiki schedulers is open');
  return {
    port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
      leave();
    },
  };
}

/** Resolves with what to do after the server was closed. */
async function listen(server: Server, at: SocketPlace | WikiPort): Promise<() => void> {
  if ('path' in at) return listenPrivately(server, at);
  const { host, port } = at;
  await new Promise<void>((resolve, reject) => {
    // Stays: what goes wrong with one that knocks later is no reason to end the head.
    server.on('error', (error) => {
      reject(new Error(`wiki.listen: ${host}:${port} cannot be opened: ${error.message}`));
    });
    server.listen({ host, port }, () => resolve());
  });
  return () => undefined;
}

/** Nothing of a connection is read before it is admitted. */
function admitBy({ at, answers, log }: WikiListenerOptions) {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return async (socket: Socket, conversation: Conversation): Promise<void> => {
    // Who has come through a unix socket may write to it, says the kernel.
    const why = 'path' in at ? null : await at.admission(socket);
    if (why === null) return conversation.begin();
    if (performance.now() - loggedAt >= STRANGERS_LOGGED_MS) {
      loggedAt = performance.now();
      log.warn({ why }, 'somebody who may not was turned away at the listener for wiki schedulers');
    }
    conversation.reply(answers.refusal(wikiProblem('checksum', `not admitted: ${why}`)));
  };
}

/** One request and its reply. */
class Conversation {
  readonly #socket: Socket;
  readonly #options: WikiListenerOptions;
  readonly #patienceMs: number;
  readonly #onWhole: () => void;
  readonly #reader = new WikiReader();
  #isReading = true;
  #timer: NodeJS.Timeout;

  constructor(socket: Socket, options: WikiListenerOptions, onWhole: () => void) {
    this.#socket = socket;
    this.#options = options;
    this.#onWhole = onWhole;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#timer = setTimeout(() => this.#onSilence(), this.#patienceMs);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => clearTimeout(this.#timer));
  }

  begin(): void {
    this.#socket.on('data', (chunk) => this.#onData(chunk));
    // Half a packet and no more: nobody waits for the rest.
    this.#socket.on('end', () => {
      if (this.#isReading) this.#refuse('data', `the connection ended after ${this.#progress}`);
    });
  }

  /** Ends it. */
  reply(packet: Uint8Array): void {
    this.#isReading = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), this.#patienceMs);
    // Without a reader nothing would tell that the other side has gone.
    this.#socket.resume();
    this.#socket.end(packet);
  }

  #onData(chunk: Uint8Array): void {
    if (!this.#isReading) return;
    const read = this.#reader.push(chunk);
    if (read.ok && read.value === null) return;
    this.#isReading = false;
    clearTimeout(this.#timer);
    const { answers, log } = this.#options;
    if (!read.ok) return this.reply(answers.refusal(read.error));
    this.#onWhole();
    answers.answer(read.value as Uint8Array).then(
      (packet) => this.reply(packet),
      (error: unknown) => {
        log.error({ error }, 'a request of a wiki scheduler failed');
        this.#socket.destroy();
      },
    );
  }

  #onSilence(): void {
    const within = `${this.#patienceMs / 1000} s`;
    this.#refuse('silence', `the request was not there within ${within}, only ${this.#progress}`);
  }

  #refuse(kind: 'silence' | 'data', words: string): void {
    this.reply(this.#options.answers.refusal(wikiProblem(kind, words)));
  }

  get #progress(): string {
    return this.#reader.progress;
  }
}
