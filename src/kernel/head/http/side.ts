// What is behind the head's listeners, the same behind each: requests, WebSockets, and who follows
// the records. Whatever comes in broken is answered or dropped, and harms nobody.

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Bounds, Newcomers } from '../../listeners/newcomers.ts';
import type { PeerOwners } from '../../listeners/peer-owners.ts';
import { refuse } from '../../model/errors.ts';
import {
  LOCAL_NEWCOMERS_MAX,
  NEWCOMERS_GRACE_MS,
  NEWCOMERS_MAX,
  NEWCOMERS_PER_ADDRESS_MAX,
} from '../../model/limits.ts';
import { authorizeRoute } from '../auth/authorize.ts';
import type { BehindListeners, HeadPart } from '../part.ts';
import { AgentSockets } from './agent-socket.ts';
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
