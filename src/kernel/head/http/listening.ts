// Servers of the head: how patient they are, how they begin to listen and how they end.

import type { Server, ServerOptions } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { LISTEN_BACKLOG } from '../../model/limits.ts';

/** From connection to the end of the header; a slow reader of ours is not meant here. */
export const HEADERS_MS = 10_000;
/** A little more than what clients usually keep an idle connection. */
const KEEP_ALIVE_MS = 65_000;
const HEADER_BYTES_MAX = 32 * 1024;
/** How far from the wanted one a port is still easy to find. */
const NEIGHBOURS = 20;
const PORT_MAX = 65_535;
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
  const { host, port, path, readableAll = false, writableAll = false } = where;
  const options = {
    ...(path === undefined ? { host, port } : { path, readableAll, writableAll }),
    backlog: LISTEN_BACKLOG,
  };
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      server.off('listening', onListening);
      reject(error);
    };
    const onListening = (): void => {
      server.off('error', onError);
      const address = server.address() as AddressInfo | string | null;
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    };
    server.once('error', onError).once('listening', onListening);
    server.listen(options as ListenOptions);
  });
}

/**
 * Takes the wanted port, one of the next, or any: whoever looks for a free one beforehand may find
 * it taken a moment later. Resolves with the port.
 */
export async function listenNear(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  const end = port === 0 ? 0 : Math.min(port + NEIGHBOURS, PORT_MAX + 1);
  for (let candidate = port; candidate < end; candidate += 1) {
    try {
      return await listen(server, { host, port: candidate });
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  return listen(server, { host, port: 0 });
}

/** By another program, or kept for one of root's. */
function isTaken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || code === 'EACCES';
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Answers under way get a moment; whoever does not read them is not waited for.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
