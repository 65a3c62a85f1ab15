// Finding the server of steps on another node of the task. Whoever answers without the task's key
// is not it, so that every place it may be at can be tried at once.

import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { Allocation } from './allocation.ts';
import { identityOf, keyOf, portsOf, TLS_OPTIONS } from './secrecy.ts';

/** The parts of a task start within moments of each other, unless a node is in trouble. */
const PATIENCE_MS = 120_000;
const AGAIN_MS = 200;
/** A packet that a firewall drops is not answered. */
const ATTEMPT_MS = 5_000;
/** Virtual nodes are on the machine itself, whatever their names. */
const HERE = '127.0.0.1';

/** A connection to the server on this node; an error says why there is none. */
export async function connectTo(
  allocation: Allocation,
  node: string,
  patienceMs = PATIENCE_MS,
): Promise<Result<TLSSocket, string>> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    // Before a name is asked for that nobody may know: that can take long.
    const here = await firstOf(places(allocation, node, [HERE]));
    if (here !== null) return ok(here);
    const addresses = await addressesOf(node);
    const there = await firstOf(places(allocation, node, addresses));
    if (there !== null) return ok(there);
    if (performance.now() > deadline) return err(explain(node, addresses, patienceMs));
    await sleep(AGAIN_MS);
  }
}

interface StepServerAddress {
  readonly host: string;
  readonly port: number;
  readonly identity: string;
  readonly psk: Buffer;
}

function places(
  allocation: Allocation,
  node: string,
  addresses: readonly string[],
): StepServerAddress[] {
  const identity = identityOf(allocation, node);
  const psk = keyOf(allocation, node);
  const ports = portsOf(allocation, node);
  return addresses.flatMap((host) => ports.map((port) => ({ host, port, identity, psk })));
}

async function addressesOf(node: string): Promise<string[]> {
  const found = await lookup(node, { all: true }).catch(() => []); // Nobody knows it, or not now.
  return found.map(({ address }) => address);
}

/** The first that proves to be the server; the others are let go. Null when none is. */
async function firstOf(all: readonly StepServerAddress[]): Promise<TLSSocket | null> {
  const attempts = all.map(attempt);
  const first = await Promise.any(attempts.map(({ ready }) => ready)).catch(() => null);
  for (const { socket } of attempts) if (socket !== first) socket.destroy();
  return first;
}

function attempt({ host, port, identity, psk }: StepServerAddress): {
  readonly socket: TLSSocket;
  readonly ready: Promise<TLSSocket>;
} {
  const socket = connect({
    ...TLS_OPTIONS,
    host,
    port,
    pskCallback: () => ({ psk, identity }),
    // No certificate is shown: the key is the proof, of both sides.
    checkServerIdentity: () => undefined,
  });
  const ready = new Promise<TLSSocket>((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), ATTEMPT_MS);
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.once('secureConnect', () => clearTimeout(timer));
    socket.once('close', () => clearTimeout(timer));
  });
  return { socket, ready };
}

function explain(node: string, addresses: readonly string[], patienceMs: number): string {
  const seconds = `${Math.round(patienceMs / 1000)} s`;
  if (addresses.length === 0) {
    return `the name ${node} has no address here, and no virtual node of that name answered within ${seconds}; name nodes as their machines are called, or add them to /etc/hosts`;
  }
  return `${node} (${addresses.join(', ')}) did not answer within ${seconds}; do the nodes reach each other's ports 15000-31999?`;
}
