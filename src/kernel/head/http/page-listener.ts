// The listener of the web page on the loopback, for whoever sits at the head's machine: without
// TLS, as no browser trusts a certificate that the head made itself. It is opened when somebody
// first asks for a link, and from then on by each head on these files, on the same port.

import type { Server } from 'node:http';
import type { Log } from '../../ports/log.ts';
import type { PageSessions } from '../auth/page-sessions.ts';

const HOST = '127.0.0.1';

export interface PageListenerParts {
  readonly sessions: PageSessions;
  readonly log: Log;
  /** A server with all routes that does not listen yet. */
  readonly make: () => Server;
  /** Resolves with the port. */
  readonly listen: (server: Server, where: { host: string; port: number }) => Promise<number>;
}

export class PageListener {
  readonly #parts: PageListenerParts;
  #server: Promise<Server> | null = null;
  #port: number | null = null;

  constructor(parts: PageListenerParts) {
    this.#parts = parts;
  }

  /** At the head's start: where it was, if it was ever open. */
  async reopen(): Promise<void> {
    const { sessions, log } = this.#parts;
    if (sessions.port === null) return;
    try {
      await this.open();
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'the web page is not on the loopback');
    }
  }

  /** The port, whether it had to be opened or not. */
  async open(): Promise<number> {
    this.#server ??= this.#open();
    try {
      await this.#server;
    } catch (error) {
      this.#server = null;
      throw error;
    }
    return this.#port as number;
  }

  /** What has to be closed. */
  async servers(): Promise<readonly Server[]> {
    return this.#server === null ? [] : [await this.#server];
  }

  async #open(): Promise<Server> {
    const { sessions, make, listen } = this.#parts;
    const known = sessions.port;
    const server = make();
    try {
      this.#port = await listen(server, { host: HOST, port: known ?? 0 });
    } catch (error) {
      // Somebody else has that port now: pages that are open do not find us, new links do.
      if (known === null || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      this.#port = await listen(server, { host: HOST, port: 0 });
    }
    if (this.#port !== known) await sessions.keepPort(this.#port);
    return server;
  }
}
