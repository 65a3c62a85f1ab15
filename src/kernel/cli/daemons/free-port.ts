// A port that nobody listens on.

import { createServer } from 'node:net';
import type { Address } from '../../config/value.ts';

/** How far from the wished one a port is still easy to find. */
const NEIGHBOURS = 20;

/** The wished port, one of the next, or any; the head takes it a moment later. */
export async function findFreePort({ host, port }: Address): Promise<number> {
  for (let candidate = port; candidate > 0 && candidate < port + NEIGHBOURS; candidate += 1) {
    if (candidate < 65_536 && (await tryPort(host, candidate)) !== null) return candidate;
  }
  return (await tryPort(host, 0)) ?? 0;
}

/** The port it could listen on; null when taken. */
export function tryPort(host: string, port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ host, port }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? null) : null));
    });
  });
}
