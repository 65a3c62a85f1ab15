// A port that nobody listens on, for programs that are told theirs: another may be faster.

import { tryPort } from '../../src/kernel/cli/daemons/free-port.ts';

/** How far from the wished one a port is still easy to find. */
const NEIGHBOURS = 20;

/** The wished port, one of the next, or any. */
export async function findFreePort(wished: { host: string; port: number }): Promise<number> {
  const { host, port } = wished;
  for (let candidate = port; candidate > 0 && candidate < port + NEIGHBOURS; candidate += 1) {
    if (candidate < 65_536 && (await tryPort(host, candidate)) !== null) return candidate;
  }
  return (await tryPort(host, 0)) ?? 0;
}
