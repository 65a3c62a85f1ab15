// The head's listeners: a unix socket for users of this machine and one TLS port for everybody
// else, both with the same routes.

import { chmod, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { openApiDocument } from '../../api/openapi.ts';
import type { ApiPart } from '../../api/part.ts';
import { listRoutes } from '../../api/route-list.ts';
import { PeerOwners, type UidsOf } from '../../listeners/peer-owners.ts';
import { loadOf } from '../answers/overview.ts';
import { Accounts } from '../auth/accounts.ts';
import { Authenticator } from '../auth/authenticate.ts';
import { endOf, fingerprintOf, type HeadCertificate } from '../auth/certificate.ts';
import { LocalLogin } from '../auth/local-login.ts';
import { PageHosts } from '../auth/page-hosts.ts';
import { PagePeers } from '../auth/page-peers.ts';
import { PageSessions } from '../auth/page-sessions.ts';
import { Sessions } from '../auth/sessions.ts';
import { LoadKeeper } from '../load/load-keeper.ts';
import type { HeadPart } from '../part.ts';
import { Feeder } from '../stdin/feeder.ts';
import { EventFeed } from './event-feed.ts';
import { BRIEF, WHOLE } from './event-pieces.ts';
import { EventRing } from './event-ring.ts';
import { expectClients } from './handlers/feed-job.ts';
import { JobWatch } from './job-watch.ts';
import { HEADERS_MS, listen, listenNear, serverOptions } from './listening.ts';
import { PageFiles } from './page-files.ts';
import { PageListener } from './page-listener.ts';
import { PublicEvents } from './public-events.ts';
import { RequestCounts } from './request-counts.ts';
import { RequestLimits } from './request-limits.ts';
import { Router } from './router.ts';
import type { ClusterFacts, HttpPorts, KernelServices, Services } from './services.ts';
import { SharedAnswers } from './shared-answers.ts';
import { Side } from './side.ts';
import { TaskMaps } from './task-maps.ts';

/** Not imported: an import reads every name of the module; one loads a WebSocket client. */
const { createServer } = process.getBuiltinModule('node:http');
const { createServer: createSecureServer } = process.getBuiltinModule('node:https');

/** What wings add to what is behind the listeners. */
export interface HttpWings {
  readonly parts: readonly HeadPart[];
  readonly apis: readonly ApiPart[];
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
    /** `HeadAddress.orNear`. */
    readonly orNear?: boolean;
    readonly certificate: HeadCertificate;
    /** Names and addresses for join tokens, best first; empty = `host`. */
    readonly publicNames: readonly string[];
    /** Addresses of this machine now, for who joins from where no name is known; absent: none. */
    readonly ownAddresses?: () => readonly string[];
  } | null;
  /** Where the built web page is, and where the sessions of browsers are kept (0700). */
  readonly page: { readonly files: string; readonly state: string };
  /** Where users make the directories of the local login. Must be shared with them. */
  readonly loginDirectory: string;
  /** Tells whose connections to the unix socket are; absent: nobody does, and all are one. */
  readonly uidsOf?: UidsOf | undefined;
  /** Requests a second and user. */
  readonly requestRateMax: number;
  /** What wings add. */
  readonly wings: HttpWings;
  /** From connection to the end of the header. Default: 10 s. */
  readonly headersMs?: number;
}

export interface HttpSide {
  /** The TLS port in use; null without one. */
  readonly port: number | null;
  readonly fingerprint: string | null;
  /** `ClusterFacts.joinAddresses`, as they are at that moment. */
  joinAddresses(): readonly string[];
  /** Ends long polls and streams, closes agents' sessions and lets no more in. */
  close(): Promise<void>;
}

/** Resolves when both listeners are open. Rejects with words when one cannot be opened. */
export async function startHttp(ports: HttpPorts, options: HttpOptions): Promise<HttpSide> {
  const { secure, headersMs = HEADERS_MS } = options;
  const secureServer =
    secure === null
      ? null
      : createSecureServer({
          ...serverOptions(headersMs),
          key: secure.certificate.keyPem,
          cert: shownBy(secure.certificate),
          handshakeTimeout: headersMs,
        });
  const fingerprint = secure === null ? null : fingerprintOf(secure.certificate.certificatePem);
  const bound: Bound = { port: null, fingerprint };
  const { side, pageListener } = await createSide(ports, options, bound);
  // Served before it listens: nobody would ever answer a request that comes in between.
  if (secureServer !== null && secure !== null) {
    side.serve(secureServer, false);
    const { host, port, orNear = false } = secure;
    bound.port = await (orNear ? listenNear : listen)(secureServer, { host, port });
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
  await pageListener.reopen();
  const servers = secureServer === null ? [socketServer] : [socketServer, secureServer];
  const close = async () => side.close([...servers, ...(await pageListener.servers())]);
  const joinAddresses = () => joinAddressesOf(options, bound.port);
  return { port: bound.port, fingerprint, joinAddresses, close };
}

interface Bound {
  /** Null until the TLS port is open, and without one. */
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
  const pageListener = new PageListener({ sessions: pageSessions, log, make, listen });
  const accounts = new Accounts();
  const localLogin = new LocalLogin({ directory: options.loginDirectory, chance, accounts });
  await localLogin.prepare();
  const { parts, apis } = options.wings;
  const authenticator = new Authenticator({
    state: () => engine.state,
    sessions,
    pageSessions,
    accounts,
    now: () => engine.now(),
    headUid: process.getuid?.() ?? 0,
    multiUser: options.multiUser,
    findWorkers: parts.flatMap(({ findWorker }) => findWorker ?? []),
  });
  const { clusterName, version, multiUser, capacity, requestRateMax } = options;
  const { fingerprint } = bound;
  const certificatePem = options.secure ? shownBy(options.secure.certificate) : null;
  const publicEvents = new PublicEvents(parts.flatMap(({ events }) => events ?? []));
  const ring = new EventRing(engine.seq, publicEvents);
  const own: KernelServices = {
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
      get joinAddresses() {
        return joinAddressesOf(options, bound.port);
      },
      fingerprint,
      certificatePem,
      certificateUntil: certificatePem === null ? null : endOf(certificatePem),
    },
    authenticator,
    sessions,
    localLogin,
    pageSessions,
    pagePeers: new PagePeers(),
    pageHosts: new PageHosts(namesOf(options)),
    pageFiles: new PageFiles(options.page.files),
    pageListener,
    publicEvents,
    ring,
    feed: new EventFeed(ring, clock, WHOLE),
    briefFeed: new EventFeed(ring, clock, BRIEF),
    watch: new JobWatch(publicEvents),
    counts: new RequestCounts(),
    shared: new SharedAnswers(engine),
    taskMaps: new TaskMaps(Buffer.from(chance.bytes(6)).toString('hex')),
    feeder: new Feeder(clock, ports.agents),
    load: await LoadKeeper.start({
      engine,
      clock,
      log,
      directory: options.page.state,
      look: loadOf,
    }),
    router: new Router(listRoutes(apis)),
    document: documentOf(version, apis),
    answerParts: parts,
  };
  const behind = parts.flatMap((part) => part.openListeners?.(ports) ?? []);
  // In place, as some of the facts are asked anew each time.
  const services: Services = Object.assign(own, ...behind.map((one) => one.services));
  expectClients(services);
  const owners = options.uidsOf === undefined ? undefined : new PeerOwners(options.uidsOf);
  const limits = new RequestLimits(requestRateMax, owners);
  const side = new Side(services, limits, { parts, behind, owners });
  return { side, pageListener };
}

/** Makes the OpenAPI document on first use: a head that is never asked for it does not pay. */
function documentOf(version: string, apis: readonly ApiPart[]): () => Record<string, unknown> {
  let made: Record<string, unknown> | undefined;
  return () => {
    made ??= openApiDocument(version, apis);
    return made;
  };
}

function namesOf({ secure }: HttpOptions): string[] {
  return [hostname(), ...(secure === null ? [] : [secure.host, ...secure.publicNames])];
}

function addressesOf({ secure }: HttpOptions, port: number | null): string[] {
  if (secure === null || port === null) return [];
  const names = secure.publicNames.length > 0 ? secure.publicNames : [secure.host];
  return names.map((name) => withPort(name, port));
}

/** Names first: they stay when an address changes. */
function joinAddressesOf(options: HttpOptions, port: number | null): string[] {
  const own = port === null ? [] : (options.secure?.ownAddresses?.() ?? []);
  const named = addressesOf(options, port);
  return [...new Set([...named, ...own.map((address) => withPort(address, port as number))])];
}

function withPort(name: string, port: number): string {
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

function shownBy({ certificatePem, renewedPem }: HeadCertificate): string {
  return renewedPem ?? certificatePem;
}
