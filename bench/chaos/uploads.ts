// A user who announces large files, several at once, and sends a byte a second of each.

import { randomBytes } from 'node:crypto';
import { type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Insistent } from './client.ts';
import type { SlowUploads } from './evidence.ts';

export const SLOW_USER = 'slow';
const LINES = 4;
/** Together more than the head may keep. */
const SIZE = 16 * 1_048_576;
const BYTE_MS = 1000;

export class Uploads {
  readonly #socketPath: string;
  readonly #token: string;
  readonly #open = new Set<ClientRequest>();
  readonly #over = new AbortController();
  readonly #lines: Promise<void>[];
  /** Status codes of the head's answers. */
  readonly #said = new Set<string>();
  #begun = 0;
  #longestMs = 0;

  constructor(socketPath: string, token: string) {
    this.#socketPath = socketPath;
    this.#token = token;
    this.#lines = Array.from({ length: LINES }, () => this.#line());
  }

  /** For a user of their own. */
  static async tokenFrom(client: Insistent): Promise<string> {
    await client.ask('createUser', { params: { name: SLOW_USER }, body: { role: 'user' } });
    return (await client.ask('createToken', { body: { user: SLOW_USER } })).token;
  }

  async end(): Promise<SlowUploads> {
    this.#over.abort();
    for (const sent of this.#open) sent.destroy();
    await Promise.all(this.#lines);
    return { begun: this.#begun, longestMs: this.#longestMs, said: [...this.#said] };
  }

  async #line(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#upload();
      await sleep(BYTE_MS, null, { signal }).catch(() => undefined);
    }
  }

  /** Until the head ends it, or is gone. */
  #upload(): Promise<void> {
    const path = `/v1/blobs/${randomBytes(32).toString('hex')}?offset=0&size=${SIZE}`;
    const headers = {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/octet-stream',
      'content-length': String(SIZE),
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const sent = request({ socketPath: this.#socketPath, method: 'PATCH', path, headers });
    const timer = setInterval(() => sent.write('x'), BYTE_MS);
    sent.flushHeaders();
    this.#open.add(sent);
    let from = Number.POSITIVE_INFINITY;
    // No head may be there.
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        from = performance.now();
        this.#begun += 1;
      });
    });
    sent.on('response', (answer) => {
      this.#said.add(String(answer.statusCode));
      answer.resume();
      sent.destroy();
    });
    // Also when a head is killed: then it begins anew.
    sent.on('error', () => undefined);
    sent.on('close', () => {
      clearInterval(timer);
      this.#open.delete(sent);
      this.#longestMs = Math.max(this.#longestMs, Math.round(performance.now() - from));
      resolve();
    });
    return promise;
  }
}
