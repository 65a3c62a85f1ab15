// Servers of the head: how patient they are, how they begin to listen and how they end.

import type { Server, ServerOptions } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { LISTEN_BACKLOG } from '../../model/limits.ts';

/** From connection to the end of the header; a slow reader of ours is not meant here. */
export const HEADERS_MS = 10_000;
/** A little more than what clients usually keep an idle connection. */
const KEEP_ALIVE_MS = 65_000;
const HEADER_BYTES_MAX = 32 * 1024;
/** How often slow ones are looked for. */
const CHECK_MS = 2000;

export function serverOptions(headersMs: number): ServerOptions {
  return {
    headersTimeout: headersMs,
    // None for all: read-body.ts bounds JSON, and a stream of bytes may take hours.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
  };
}

export function listen(server: Server, where: ListenOptions & { host?: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const { host, port, path, readableAll = false, writableAll = false } = where;
    const options = {
      ...(path === undefined ? { host, port } : { path, readableAll, writableAll }),
      backlog: LISTEN_BACKLOG,
    };
    server.listen(options as ListenOptions, () => {
      server.off('error', reject);
      const address = server.address() as AddressInfo | string | null;
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Answers under way get a moment; whoever does not read them is not waited for.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
