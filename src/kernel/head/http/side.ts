// What is behind the head's listeners, the same behind each: requests, WebSockets, and who follows
// the records. Whatever comes in broken is answered or dropped, and harms nobody.

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Bounds, Newcomers } from '../../listeners/newcomers.ts';
import type { PeerOwners } from '../../listeners/peer-owners.ts';
import type { Event } from '../../machine/declared.ts';
import { refuse } from '../../model/errors.ts';
import {
  LOCAL_NEWCOMERS_MAX,
  MESSAGE_BYTES_MAX,
  NEWCOMERS_GRACE_MS,
  NEWCOMERS_MAX,
  NEWCOMERS_PER_ADDRESS_MAX,
} from '../../model/limits.ts';
import { gatherWrites, type Session } from '../../ports/net.ts';
import { authorizeRoute } from '../auth/authorize.ts';
import type { BehindListeners, HeadPart } from '../part.ts';
import { refuseAndClose } from './last-words.ts';
import { closeServer } from './listening.ts';
import { Pipeline } from './pipeline.ts';
import type { RequestLimits } from './request-limits.ts';
import type { Services } from './services.ts';
import type { Upgrade, Upgrader } from './upgrades.ts';

const BOUNDS: Bounds = {
  perAddress: NEWCOMERS_PER_ADDRESS_MAX,
  total: NEWCOMERS_MAX,
  local: LOCAL_NEWCOMERS_MAX,
  graceMs: NEWCOMERS_GRACE_MS,
};

/** What wings have behind the listeners. */
export interface WingsBehind {
  readonly parts: readonly HeadPart[];
  readonly behind: readonly BehindListeners[];
  /** Whose connections to the unix socket are; undefined: nobody knows. */
  readonly owners: PeerOwners | undefined;
}

/** Routes, WebSockets and followers. */
export class Side {
  readonly #services: Services;
  readonly #pipeline: Pipeline;
  readonly #agents: AgentSockets;
  readonly #newcomers: Newcomers;
  readonly #wings: WingsBehind;
  readonly #stopping = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(services: Services, limits: RequestLimits, wings: WingsBehind) {
    const { engine, ring, watch } = services;
    this.#services = services;
    this.#wings = wings;
    const { owners } = wings;
    this.#newcomers = new Newcomers(() => services.clock.monotonic(), BOUNDS, { owners });
    this.#pipeline = new Pipeline(services, {
      limits,
      stopping: this.#stopping.signal,
      proven: (socket) => this.#newcomers.proven(socket),
      parts: wings.parts,
    });
    this.#agents = new AgentSockets((session) => services.agents.accept(session));
    this.#unsubscribe = engine.onCommitted((record) => {
      ring.add(record, engine.state);
      watch.committed(record.events);
      this.#agents.committed(record.events);
      services.load.committed(record);
    });
  }

  serve(server: Server, local: boolean): void {
    this.#serve(server, local);
    server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(incoming, socket, head, local);
    });
  }

  /** For browsers on this machine: no WebSockets of agents and programs. */
  servePage(server: Server): void {
    server.on('connection', (socket: Socket) => this.#services.pagePeers.add(socket));
    this.#serve(server, false);
  }

  #serve(server: Server, local: boolean): void {
    server.on('connection', (socket: Socket) => this.#newcomers.add(socket, local));
    server.on('request', (incoming, response) => {
      void this.#pipeline.handle(incoming, response, local);
    });
    server.on('clientError', (error: Error, socket: Duplex) => this.#broken(error, socket));
    server.on('tlsClientError', (error: Error, socket: Duplex) => {
      this.#services.log.debug({ error: error.message }, 'a TLS handshake failed');
      socket.destroy();
    });
  }

  listensOn(socketPath: string): void {
    this.#services.localLogin.listensOn(socketPath);
  }

  async close(servers: readonly Server[]): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe();
    this.#services.feeder.stop();
    this.#agents.closeAll('the head is stopping');
    for (const one of this.#wings.behind) one.close?.();
    await Promise.all(servers.map(closeServer));
    await this.#services.pageSessions.written();
    await this.#services.load.stop();
  }

  async #upgrade(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    local: boolean,
  ): Promise<void> {
    socket.on('error', () => socket.destroy());
    const match = this.#services.router.match(incoming.method ?? '', incoming.url ?? '');
    if (!match.ok || match.value.route.produces !== 'upgrade') {
      const path = String(incoming.url).slice(0, 200);
      return refuseAndClose(socket, refuse('route.unknown', { path }));
    }
    const { route, params } = match.value;
    const remote = (socket as Socket).remoteAddress ?? 'unknown';
    const address = local ? 'unix socket' : remote;
    const principal = await this.#pipeline.identify({ incoming, local, address }, route);
    if (!principal.ok) return refuseAndClose(socket, principal.error);
    const refusal = authorizeRoute(route, principal.value, local);
    if (refusal !== null) return refuseAndClose(socket, refusal);
    const upgrade = { incoming, socket, head, params, principal: principal.value };
    this.#upgraderOf(route.name)?.(this.#services, upgrade);
  }

  #upgraderOf(name: string): Upgrader | undefined {
    if (name === 'agent') return (_, upgrade) => this.#openAgent(upgrade);
    const { parts } = this.#wings;
    return parts.find((part) => part.upgrades?.[name] !== undefined)?.upgrades?.[name];
  }

  #openAgent({ incoming, socket, head, principal }: Upgrade): void {
    if (principal.kind === 'node') this.#agents.upgrade(incoming, socket, head, principal.name);
  }

  /** No HTTP, too large a header, or too slow: said in one line, then closed. */
  #broken(error: Error & { code?: string }, socket: Duplex): void {
    this.#services.log.debug({ error: error.message }, 'a request could not be read');
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    refuseAndClose(socket, refuse('request.malformed', { what: error.message }));
  }
}

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
