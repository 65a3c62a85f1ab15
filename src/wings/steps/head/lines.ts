// The two lines of each process of a step, its client's and its node's, joined in the head: bytes are
// passed on as they come, no faster than they are taken, and are nobody's business here.

import type { Duplex } from 'node:stream';

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

  /** `key`: of one process. A line that was there for this side makes way. */
  open(key: string, side: Side, socket: Duplex): void {
    const pair = this.#pairs.get(key) ?? { client: null, node: null, isJoined: false };
    this.#pairs.set(key, pair);
    const before = pair[side];
    pair[side] = null;
    before?.destroy();
    if (pair.isJoined) this.#cut(key, pair, OTHER[side]);
    this.#pairs.set(key, pair);
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

  close(): void {
    for (const { client, node } of this.#pairs.values()) {
      client?.destroy();
      node?.destroy();
    }
    this.#pairs.clear();
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
    socket?.destroy();
    if (pair.client === null && pair.node === null) this.#pairs.delete(key);
  }

  #closed(key: string, pair: Pair, side: Side, socket: Duplex): void {
    if (pair[side] !== socket) return;
    pair[side] = null;
    if (pair.isJoined) this.#cut(key, pair, OTHER[side]);
    if (pair.client === null && pair.node === null) this.#pairs.delete(key);
  }
}
