// The agents' WebSocket: authenticated before the handshake, then a Session like any other.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Event } from '../../machine/declared.ts';
import { MESSAGE_BYTES_MAX } from '../../model/limits.ts';
import { gatherWrites, type Session } from '../../ports/net.ts';

/** A node that does not read is cut off: it comes back and is told everything anew. */
const BUFFERED_BYTES_MAX = 64 * 1_048_576;
/** RFC 6455 bounds the reason of a close to 123 bytes. */
const REASON_BYTES_MAX = 123;
/** For the other side to close too. A node that is gone never does, and a stop must not wait. */
const CLOSE_WAIT_MS = 500;

export class AgentSockets {
  readonly #accept: (session: Session) => void;
  readonly #open = new Map<string, Set<Session>>();
  // Compression would cost more than it saves: messages are small and mostly on fast links.
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    clientTracking: false,
  });

  constructor(accept: (session: Session) => void) {
    this.#accept = accept;
  }

  /** `node`: as its credentials say. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, node: string): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const session = createSession(webSocket, socket, node);
      const open = this.#open.get(node) ?? new Set();
      this.#open.set(node, open.add(session));
      session.onClose(() => {
        open.delete(session);
        if (open.size === 0 && this.#open.get(node) === open) this.#open.delete(node);
      });
      this.#accept(session);
    });
  }

  /** A removed node, or one whose secret was replaced, is cut off at once. */
  committed(events: readonly Event[]): void {
    for (const event of events) {
      if (event.kind === 'node_removed') this.#close(event.node, 'the node was removed');
      if (event.kind === 'node_enrolled') this.#close(event.node, 'the node has a new secret');
    }
  }

  closeAll(why: string): void {
    for (const node of [...this.#open.keys()]) this.#close(node, why);
  }

  #close(node: string, why: string): void {
    for (const session of [...(this.#open.get(node) ?? [])]) session.close(why);
  }
}

function createSession(webSocket: WebSocket, stream: Duplex, peer: string): Session {
  let why = '';
  const gather = gatherWrites(stream, setImmediate);
  const closed = new Set<(why: string) => void>();
  webSocket.on('close', (code, reason) => {
    const words = why || reason.toString() || `the connection ended (${code})`;
    for (const handler of closed) handler(words);
  });
  webSocket.on('error', (error) => {
    why ||= error.message;
  });
  const session: Session = {
    peer,
    send(message) {
      if (webSocket.readyState !== webSocket.OPEN) return;
      gather();
      webSocket.send(message, { binary: true });
      if (webSocket.bufferedAmount <= BUFFERED_BYTES_MAX) return;
      why ||= `the node does not read: ${webSocket.bufferedAmount} bytes wait for it`;
      webSocket.terminate();
    },
    onMessage(handler) {
      webSocket.on('message', (data: Buffer) => handler(data));
    },
    onClose(handler) {
      closed.add(handler);
    },
    close(reason) {
      why ||= reason;
      if (webSocket.readyState !== webSocket.OPEN) return;
      const timer = setTimeout(() => webSocket.terminate(), CLOSE_WAIT_MS).unref();
      webSocket.once('close', () => clearTimeout(timer));
      webSocket.close(1000, Buffer.from(reason).subarray(0, REASON_BYTES_MAX).toString());
    },
  };
  return session;
}
