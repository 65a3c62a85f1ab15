// The line of a worker to the head: a connection of its own, which is a WebSocket.

import type { Duplex } from 'node:stream';

/** After the handshake. */
export interface CallLine {
  readonly stream: Duplex;
  /** What came behind the handshake. */
  readonly rest: Uint8Array;
}

/** Rejects with words when the head cannot be reached. */
export type DialCalls = () => Promise<CallLine>;
