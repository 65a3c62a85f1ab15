// HTTP/1.1 to a head over its unix socket, over connections that are kept for the next request.
//
// Node's own client takes longer to load and to compile than all the rest of a short command. It is
// used over the network, where TLS takes longer still.

import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type AnswerHead, AnswerParser, type Fields } from './answer-parser.ts';
import type { Answer, ByteBody, RawRequest } from './exchange.ts';

// Not imported: an import reads every name that the module has.
const { connect } = process.getBuiltinModule('node:net');

/** The other side closes what it keeps some seconds unused; a request must not meet that. */
const KEPT_SPARE_S = 1;

/** All connections to one socket. */
export class SocketHttp {
  readonly #path: string;
  readonly #open = new Set<Connection>();
  #idle: Connection[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Rejects with the error of the connection. */
  async send(request: RawRequest): Promise<Answer> {
    this.#idle = this.#idle.filter((one) => one.isUsable);
    return (this.#idle.pop() ?? this.#dial()).send(request);
  }

  close(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #dial(): Connection {
    const connection = new Connection(connect(this.#path), {
      free: () => this.#idle.push(connection),
      gone: () => void this.#open.delete(connection),
    });
    this.#open.add(connection);
    return connection;
  }
}

/** What is being sent and answered on a connection. */
interface Exchange {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly parser: AnswerParser;
  readonly release: () => void;
  answer: SocketAnswer | null;
}

class Connection {
  readonly #socket: Socket;
  readonly #told: { free(): void; gone(): void };
  #exchange: Exchange | null = null;
  /** A body that is not sent to its end, and how to send no more of it. */
  #unsent: { stop(): void } | null = null;
  /** In seconds of process.uptime(): `performance` would have to be loaded first. */
  #usableUntil = Number.POSITIVE_INFINITY;

  constructor(socket: Socket, told: { free(): void; gone(): void }) {
    this.#socket = socket;
    this.#told = told;
    socket.on('data', (bytes: Buffer) => this.#hear(bytes));
    socket.on('end', () => this.#exchange?.parser.close());
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      this.#fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
      told.gone();
    });
  }

  /** Whether the other side keeps a connection too that is kept here. */
  get isUsable(): boolean {
    if (this.#socket.writable && process.uptime() < this.#usableUntil) return true;
    this.destroy();
    return false;
  }

  send({ signal, ...request }: RawRequest): Promise<Answer> {
    const bytes = formatRequest(request);
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#fail(Object.assign(new Error('aborted'), { code: 'ABORT_ERR' }));
      const release = () => signal?.removeEventListener('abort', onAbort);
      this.#exchange = { resolve, reject, release, parser: this.#parser(), answer: null };
      if (signal?.aborted) return onAbort();
      signal?.addEventListener('abort', onAbort);
      this.#socket.ref();
      this.#socket.write(bytes);
      if (typeof request.body === 'object') this.#sendBody(request.body);
    });
  }

  #sendBody(body: ByteBody): void {
    if (body.pieces === undefined) return this.#pipe(body.open());
    this.#pump(body.pieces()).catch((error: unknown) => this.#fail(error as Error));
  }

  #pipe(body: Readable): void {
    this.#unsent = { stop: () => body.unpipe(this.#socket).destroy() };
    body.once('error', (error) => this.#fail(error));
    body.once('end', () => {
      this.#unsent = null;
    });
    body.pipe(this.#socket, { end: false });
  }

  /** Asks for a piece only when the system has taken the one before. */
  async #pump(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    let isWanted = true;
    this.#unsent = {
      stop: () => {
        isWanted = false;
      },
    };
    for await (const piece of pieces) {
      // The socket's `error` event tells of the failure and stops this loop, too.
      if (isWanted) await new Promise((taken) => this.#socket.write(piece, taken));
      if (!isWanted) return;
    }
    this.#unsent = null;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #parser(): AnswerParser {
    return new AnswerParser({
      head: (head) => this.#begin(head),
      body: (piece) => {
        if (this.#exchange?.answer?.push(piece) === false) this.#socket.pause();
      },
      end: (trailers) => this.#end(trailers),
    });
  }

  #hear(bytes: Buffer): void {
    // Nobody has asked for it.
    if (this.#exchange === null) return this.destroy();
    try {
      this.#exchange.parser.write(bytes);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #begin(head: AnswerHead): void {
    const exchange = this.#exchange as Exchange;
    const isOurs = () => this.#exchange === exchange;
    // An answer that comes before the end says that the rest is not wanted.
    this.#unsent?.stop();
    exchange.answer = new SocketAnswer(head, {
      wanted: () => isOurs() && this.#socket.resume(),
      unwanted: () => isOurs() && this.destroy(),
    });
    exchange.resolve(exchange.answer);
  }

  #end(trailers: Fields): void {
    const { answer, release } = this.#exchange as Exchange;
    this.#exchange = null;
    release();
    this.#socket.resume();
    answer?.finish(trailers);
    const { connection, 'keep-alive': kept } = answer?.headers ?? {};
    const isHalfSent = this.#unsent !== null || this.#socket.writableLength > 0;
    if (isHalfSent || connection?.toLowerCase() === 'close') return this.destroy();
    const seconds = Number(/\btimeout=(\d+)/.exec(kept ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
    this.#usableUntil = process.uptime() + seconds - KEPT_SPARE_S;
    // A connection that is only kept keeps no process alive.
    this.#socket.unref();
    this.#told.free();
  }

  #fail(error: Error): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.destroy();
    this.#unsent?.stop();
    exchange?.release();
    exchange?.reject(error);
    exchange?.answer?.destroy(error);
  }
}

/** The head of an answer, and its body as it comes. */
class SocketAnswer extends Readable implements Answer {
  readonly statusCode: number;
  readonly headers: Fields;
  trailers: Fields = {};

  constructor(
    { statusCode, headers }: AnswerHead,
    on: { readonly wanted: () => void; readonly unwanted: () => void },
  ) {
    super({
      read: on.wanted,
      destroy: (error, done) => {
        on.unwanted();
        // Whoever has not begun to read learns of it when they do.
        done(this.listenerCount('error') === 0 ? null : error);
      },
    });
    this.statusCode = statusCode;
    this.headers = headers;
  }

  finish(trailers: Fields): void {
    this.trailers = trailers;
    this.push(null);
  }
}

/** With a body of text. Throws when a line would end before its end. */
function formatRequest({ method, path, headers, body }: Omit<RawRequest, 'signal'>): Buffer {
  const text = Buffer.from(typeof body === 'string' ? body : '');
  const length = typeof body === 'object' ? body.length : text.length;
  if (length === null) throw new TypeError('a body through the socket says its length');
  const all: Record<string, string> = { host: 'localhost', connection: 'keep-alive', ...headers };
  if (body !== undefined || method !== 'GET') all['content-length'] = String(length);
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  for (const field of fields)
    if (/[^\t\x20-\xff]/.test(field)) throw new TypeError('invalid header');
  if (/[^\x21-\x7e]/.test(path)) throw new TypeError('invalid path');
  const lines = [`${method} ${path} HTTP/1.1`, ...fields];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), text]);
}
