// The two lines of each process of a step, its client's and its node's, joined in the head: bytes
// are passed on as they come, no faster than they are taken, and are nobody's business here.

import type { Duplex } from 'node:stream';
import { watchedOf } from '../core/ids.ts';

/** What was written to a line that is no more may take so long. */
const BRING_OUT_MS = 2_000;

type Side = 'client' | 'node';

const OTHER = { client: 'node', node: 'client' } as const;
/** Both sides begin anew on a new line: whatever was joined is cut. */
interface Pair {
  client: Duplex | null;
  node: Duplex | null;
  isJoined: boolean;
}

export class Lines {
  readonly #pairs = new Map<string, Pair>();
  /** Keys of those who only look, by that of what they look at. */
  readonly #watches = new Map<string, Set<string>>();

  /** `key`: of one process. A line that was there for this side makes way. */
  open(key: string, side: Side, socket: Duplex): void {
    const pair = this.#pairs.get(key) ?? { client: null, node: null, isJoined: false };
    this.#keep(key, pair);
    const before = pair[side];
    pair[side] = null;
    if (before !== null) bringOut(before);
    if (pair.isJoined) this.#cut(key, pair, OTHER[side]);
    this.#keep(key, pair);
    pair[side] = socket;
    socket.once('close', () => this.#closed(key, pair, side, socket));
    if (pair.client !== null && pair.node !== null) this.#join(pair.client, pair.node, pair);
  }

  isServed(key: string): boolean {
    return this.#pairs.get(key)?.node != null;
  }

  /** Unless the other side is there: what that has to say is heard first. */
  dropAlone(key: string): void {
    if (!this.isServed(key)) this.drop(key);
  }

  drop(key: string): void {
    const pair = this.#pairs.get(key);
    pair?.client?.destroy();
    pair?.node?.destroy();
  }

  /** With the lines of all who look. */
  dropAll(key: string): void {
    for (const watch of this.#watches.get(key) ?? []) this.drop(watch);
    this.drop(key);
  }

  close(): void {
    for (const { client, node } of this.#pairs.values()) {
      client?.destroy();
      node?.destroy();
    }
    this.#pairs.clear();
    this.#watches.clear();
  }

  #keep(key: string, pair: Pair): void {
    this.#pairs.set(key, pair);
    const watched = watchedOf(key);
    if (watched === null) return;
    const watches = this.#watches.get(watched) ?? new Set();
    this.#watches.set(watched, watches.add(key));
  }

  #forget(key: string): void {
    this.#pairs.delete(key);
    const watched = watchedOf(key);
    const watches = watched === null ? undefined : this.#watches.get(watched);
    watches?.delete(key);
    if (watched !== null && watches?.size === 0) this.#watches.delete(watched);
  }

  #join(client: Duplex, node: Duplex, pair: Pair): void {
    pair.isJoined = true;
    client.pipe(node);
    node.pipe(client);
  }

  #cut(key: string, pair: Pair, side: Side): void {
    const socket = pair[side];
    pair[side] = null;
    pair.isJoined = false;
    if (socket !== null) bringOut(socket);
    if (pair.client === null && pair.node === null) this.#forget(key);
  }

  #closed(key: string, pair: Pair, side: Side, socket: Duplex): void {
    if (pair[side] !== socket) return;
    pair[side] = null;
    if (pair.isJoined) this.#cut(key, pair, OTHER[side]);
    if (pair.client === null && pair.node === null) this.#forget(key);
  }
}

/**
 * Closed only after the other end has: a socket that is closed while it holds unread bytes is reset
 * by the kernel, and the other end may lose the last word that was on its way to it.
 */
function bringOut(socket: Duplex): void {
  socket.unpipe();
  socket.resume();
  socket.end();
  const timer = setTimeout(() => socket.destroy(), BRING_OUT_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
