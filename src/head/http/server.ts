// The head's doors: a unix socket for users of this machine and one TLS port for everybody else,
// both with the same routes. Whatever comes in broken is answered or dropped, and harms nobody.

import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { UpgradeName } from '../../api/routes.ts';
import { refuse } from '../../core/model/errors.ts';
import { LISTEN_BACKLOG } from '../../core/model/limits.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Archive } from '../archive/archive.ts';
import { Accounts } from '../auth/accounts.ts';
import { Authenticator } from '../auth/authenticate.ts';
import { authorizeRoute } from '../auth/authorize.ts';
import { fingerprintOf, type HeadCertificate } from '../auth/certificate.ts';
import { LocalLogin } from '../auth/local-login.ts';
import { PagePeers } from '../auth/page-peers.ts';
import { PageSessions } from '../auth/page-sessions.ts';
import { Sessions } from '../auth/sessions.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { Calls } from '../calls/calls.ts';
import type { Engine } from '../engine.ts';
import type { JobFiles } from '../files/job-files.ts';
import type { GoalKeeper } from '../goals/keeper.ts';
import type { LogFiles } from '../logs/log-files.ts';
import { Feeder } from '../stdin/feeder.ts';
import { AgentSockets } from './agent-socket.ts';
import { EventRing } from './event-ring.ts';
import { expectClients } from './handlers/feed-job.ts';
import { JobWatch } from './job-watch.ts';
import { refuseAndClose } from './last-words.ts';
import { Newcomers } from './newcomers.ts';
import { PageDoor } from './page-door.ts';
import { PageFiles } from './page-files.ts';
import { Pipeline } from './pipeline.ts';
import { RequestCounts } from './request-counts.ts';
import { RequestLimits } from './request-limits.ts';
import { matchRoute } from './router.ts';
import type { AgentAcceptor, ClusterFacts, Services } from './services.ts';
import { SharedAnswers } from './shared-answers.ts';
import { createUpgrades, type Upgrades } from './upgrades.ts';

/** From connection to the end of the header; a slow reader of ours is not meant here. */
const HEADERS_MS = 10_000;
/** A little more than what clients usually keep an idle connection. */
const KEEP_ALIVE_MS = 65_000;
const HEADER_BYTES_MAX = 32 * 1024;
/** How often slow ones are looked for. */
const CHECK_MS = 2000;

export interface HttpPorts {
  readonly engine: Engine;
  readonly agents: AgentAcceptor;
  readonly logs: LogFiles;
  readonly goals: GoalKeeper;
  readonly blobs: BlobStore;
  readonly jobFiles: JobFiles;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  readonly audit: Log;
  readonly reload: Services['reload'];
  readonly notifierHealth: Services['notifierHealth'];
}

export interface HttpOptions {
  readonly clusterName: string;
  readonly version: string;
  readonly multiUser: boolean;
  /** What to show as the head's own instead of what the machine has. */
  readonly capacity: ClusterFacts['capacity'];
  /** Replaced when something lies there: whoever holds the store is the only head. */
  readonly socketPath: string;
  readonly secure: {
    /** Port 0: any free one. */
    readonly host: string;
    readonly port: number;
    readonly certificate: HeadCertificate;
    /** Names and addresses for join tokens, best first; empty = `host`. */
    readonly publicNames: readonly string[];
  } | null;
  /** Where the built web page is, and where the sessions of browsers are kept (0700). */
  readonly page: { readonly files: string; readonly state: string };
  /** Where users make the directories of the local login. Must be shared with them. */
  readonly loginDirectory: string;
  /** Requests a second and user. */
  readonly requestRateMax: number;
  /** From connection to the end of the header. Default: 10 s. */
  readonly headersMs?: number;
}

export interface HttpSide {
  /** The TLS port in use; null without one. */
  readonly port: number | null;
  readonly fingerprint: string | null;
  /** `ClusterFacts.addresses`. */
  readonly addresses: readonly string[];
  /** Ends long polls and streams, closes agents' sessions and lets no more in. */
  close(): Promise<void>;
}

/** Resolves when both doors are open. Rejects with words when one cannot be opened. */
export async function startHttp(ports: HttpPorts, options: HttpOptions): Promise<HttpSide> {
  const { secure, headersMs = HEADERS_MS } = options;
  const secureServer =
    secure === null
      ? null
      : createSecureServer({
          ...serverOptions(headersMs),
          key: secure.certificate.keyPem,
          cert: secure.certificate.certificatePem,
          handshakeTimeout: headersMs,
        });
  const fingerprint = secure === null ? null : fingerprintOf(secure.certificate.certificatePem);
  const bound: Bound = { port: null, fingerprint };
  const { side, pageDoor } = await createSide(ports, options, bound);
  // Served before it listens: nobody would ever answer a request that comes in between.
  if (secureServer !== null) {
    side.serve(secureServer, false);
    bound.port = await listen(secureServer, secure ?? {});
  }
  const socketServer = createServer(serverOptions(headersMs));
  side.serve(socketServer, true);
  await rm(options.socketPath, { force: true });
  // With several users everybody may knock: who they are is decided by the login, not by modes. At
  // once, as who may not knock gives up; the umask then has no say.
  const toAll = { readableAll: options.multiUser, writableAll: options.multiUser };
  await listen(socketServer, { path: options.socketPath, ...toAll });
  side.listensOn(options.socketPath);
  await chmod(options.socketPath, options.multiUser ? 0o666 : 0o600);
  await pageDoor.reopen();
  const servers = secureServer === null ? [socketServer] : [socketServer, secureServer];
  const close = async () => side.close([...servers, ...(await pageDoor.servers())]);
  const addresses = addressesOf(options, bound.port);
  return { port: bound.port, fingerprint, addresses, close };
}

function serverOptions(headersMs: number): ServerOptions {
  return {
    headersTimeout: headersMs,
    // None for all: read-body.ts bounds JSON, and a stream of bytes may take hours.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
  };
}

interface Bound {
  /** Null until the TLS door listens, and without one. */
  port: number | null;
  readonly fingerprint: string | null;
}

async function createSide(ports: HttpPorts, options: HttpOptions, bound: Bound) {
  const { engine, clock, chance, log } = ports;
  const sessions = new Sessions(chance);
  const pageSessions = new PageSessions(chance, options.page.state, log);
  await pageSessions.load(engine.now());
  const make = () => {
    const server = createServer(serverOptions(options.headersMs ?? HEADERS_MS));
    side.servePage(server);
    return server;
  };
  const pageDoor = new PageDoor({ sessions: pageSessions, log, make, listen });
  const accounts = new Accounts();
  const localLogin = new LocalLogin({ directory: options.loginDirectory, chance, accounts });
  await localLogin.prepare();
  const authenticator = new Authenticator({
    state: () => engine.state,
    sessions,
    pageSessions,
    accounts,
    now: () => engine.now(),
    headUid: process.getuid?.() ?? 0,
    multiUser: options.multiUser,
  });
  const { clusterName, version, multiUser, capacity, requestRateMax } = options;
  const { fingerprint } = bound;
  const certificatePem = options.secure?.certificate.certificatePem ?? null;
  const startedAt = clock.now();
  const services: Services = {
    ...ports,
    facts: {
      clusterName,
      version,
      multiUser,
      capacity,
      // Join tokens carry the port that was found.
      get addresses() {
        return addressesOf(options, bound.port);
      },
      fingerprint,
      certificatePem,
      startedAt,
    },
    authenticator,
    sessions,
    localLogin,
    pageSessions,
    pagePeers: new PagePeers(),
    pageFiles: new PageFiles(options.page.files),
    pageDoor,
    ring: new EventRing(engine.seq),
    watch: new JobWatch(),
    counts: new RequestCounts(),
    shared: new SharedAnswers(engine),
    feeder: new Feeder(clock, ports.agents),
    calls: new Calls({ engine, clock, chance }),
  };
  expectClients(services);
  const side = new Side(services, new RequestLimits(requestRateMax));
  return { side, pageDoor };
}

function addressesOf({ secure }: HttpOptions, port: number | null): string[] {
  if (secure === null || port === null) return [];
  const names = secure.publicNames.length > 0 ? secure.publicNames : [secure.host];
  return names.map((name) => (name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`));
}

/** Routes, WebSockets and followers behind both doors. */
class Side {
  readonly #services: Services;
  readonly #pipeline: Pipeline;
  readonly #agents: AgentSockets;
  readonly #newcomers: Newcomers;
  readonly #upgrades: Upgrades;
  readonly #stopping = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(services: Services, limits: RequestLimits) {
    const { engine, ring, watch } = services;
    this.#services = services;
    this.#newcomers = new Newcomers(() => services.clock.monotonic());
    this.#pipeline = new Pipeline(services, {
      limits,
      stopping: this.#stopping.signal,
      proven: (socket) => this.#newcomers.proven(socket),
    });
    this.#agents = new AgentSockets((session) => services.agents.accept(session));
    this.#upgrades = createUpgrades(this.#agents, services);
    this.#unsubscribe = engine.onCommitted((record) => {
      ring.add(record, engine.state);
      watch.committed(record.events);
      this.#agents.committed(record.events);
      services.calls.committed(record.events);
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
    this.#services.calls.stop();
    await Promise.all(servers.map(closeServer));
    await this.#services.pageSessions.written();
  }

  async #upgrade(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    local: boolean,
  ): Promise<void> {
    socket.on('error', () => socket.destroy());
    const match = matchRoute(incoming.method ?? '', incoming.url ?? '');
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
    this.#upgrades[route.name as UpgradeName]({
      incoming,
      socket,
      head,
      params,
      principal: principal.value,
    });
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

function listen(server: Server, where: ListenOptions & { host?: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const { host, port, path, readableAll = false, writableAll = false } = where;
    const options = {
      ...(path === undefined ? { host, port } : { path, readableAll, writableAll }),
      backlog: LISTEN_BACKLOG,
    };
    server.listen(options as ListenOptions, () => {
      server.off('error', reject);
      const address = server.address() as AddressInfo | string | null;
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Answers under way get a moment; whoever does not read them is not waited for.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
