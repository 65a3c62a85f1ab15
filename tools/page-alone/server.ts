// The web page without a head: what it asks is answered by given functions. For amounts that no
// test machine has, and for pages that have to look the same each time.

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { methodAndPath, PATHS, type RouteName } from '../../src/kernel/api/paths.ts';
import type { ReplyOf } from '../../src/kernel/api/routes.ts';
import { ROOT } from '../tree.ts';
import '../../src/wings.ts';

/** What of a request an answer depends on. */
export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Header Idempotency-Key; absent: none was sent. */
  readonly key?: string | undefined;
}

/** The connection breaks before the answer comes. */
export const LOST = Symbol('lost');

/** Bytes instead of JSON. */
export class Plain {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;

  constructor(bytes: Buffer | string, headers: Readonly<Record<string, string>> = {}) {
    this.bytes = Buffer.from(bytes as Buffer);
    this.headers = headers;
  }
}

export type Answers = {
  readonly [N in RouteName]?: (asked: Asked) => ReplyOf<N> | Plain | typeof LOST;
};

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const PAGE = path.join(ROOT, 'dist', 'dashboard');

export class PageAlone {
  readonly #server: Server;
  readonly #answers: Answers;
  readonly #streams = new Set<ServerResponse>();
  #seq = 0;

  /** The page must have been built. */
  static async start(answers: Answers): Promise<PageAlone> {
    const made = new PageAlone(answers);
    await new Promise<void>((resolve) => {
      made.#server.listen(0, '127.0.0.1', resolve);
    });
    return made;
  }

  private constructor(answers: Answers) {
    this.#answers = answers;
    this.#server = createServer((incoming, response) => this.#answer(incoming, response));
  }

  /** Logs in at once. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/#login=alone`;
  }

  /** Tells every open page of events, as a head does. */
  tell(events: readonly object[]): void {
    this.#seq += 1;
    const data = JSON.stringify({ seq: this.#seq, at: Date.now(), events });
    for (const stream of this.#streams) stream.write(`id: ${this.#seq}\ndata: ${data}\n\n`);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #answer(incoming: IncomingMessage, response: ServerResponse): void {
    incoming.resume();
    // The page goes by the clock of its head, and this world has stood still at its own time.
    response.sendDate = false;
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://page');
    if (pathname === '/') return send(response, 200, read('index.html'), 'text/html');
    if (pathname.startsWith('/ui/')) return sendFile(response, pathname.slice('/ui/'.length));
    const found = routeOf(incoming.method ?? 'GET', pathname);
    if (found?.name === 'events') return this.#stream(response);
    const answer = found === null ? undefined : this.#answers[found.name];
    if (answer === undefined) {
      const what = `${incoming.method} ${pathname} has no answer here.`;
      const error = { code: 'page.alone', kind: 'not_found', message: what, hint: null };
      return send(response, 404, JSON.stringify({ error }), 'application/json');
    }
    const key = incoming.headers['idempotency-key']?.toString();
    const value = answer({ params: found?.params ?? {}, query: searchParams, key });
    if (value === LOST) return void incoming.destroy();
    if (!(value instanceof Plain)) {
      return send(response, 200, JSON.stringify(value), 'application/json');
    }
    response.writeHead(200, { 'content-length': value.bytes.length, ...value.headers });
    response.end(value.bytes);
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
  }
}

function routeOf(method: string, pathname: string) {
  const wanted = pathname.split('/');
  for (const name of Object.keys(PATHS) as RouteName[]) {
    const route = methodAndPath(name);
    const parts = route.path.split('/');
    if (route.method !== method || parts.length !== wanted.length) continue;
    const fits = parts.every((part, at) => part.startsWith(':') || part === wanted[at]);
    if (!fits) continue;
    const named = parts.flatMap((part, at): [string, string][] =>
      part.startsWith(':') ? [[part.slice(1), decodeURIComponent(wanted[at] ?? '')]] : [],
    );
    return { name, params: Object.fromEntries(named) };
  }
  return null;
}

function sendFile(response: ServerResponse, name: string): void {
  const type = TYPES[path.extname(name)] ?? 'application/octet-stream';
  send(response, 200, read(path.basename(name)), type);
}

function read(name: string): Buffer {
  return readFileSync(path.join(PAGE, name));
}

function send(response: ServerResponse, status: number, body: Buffer | string, type: string): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` });
  response.end(body);
}
