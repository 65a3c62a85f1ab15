// One request from its first line to its answer: route, who, how often, body, may they, do, audit.
// Everything that goes wrong on the way is a refusal, and every request is answered.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { EPOCH_HEADER } from '../../api/blobs.ts';
import { noQuery } from '../../api/common.ts';
import type { Route } from '../../api/route-list.ts';
import { PAGE_KEY_HEADER, uiRoutes } from '../../api/ui.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { UserActor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { OPEN_REQUEST_BYTES_MAX } from '../../model/limits.ts';
import type { JobRecord } from '../answers/job-record.ts';
import type { Principal } from '../auth/authenticate.ts';
import { authorizeObject, authorizeRoute, refuseStale } from '../auth/authorize.ts';
import { pageCredentials, refuseForeignPage } from '../auth/page-request.ts';
import { type EpochCaller, epochCaller } from '../epoch-caller.ts';
import type { HeadPart } from '../part.ts';
import { answerJson, sendRefusal } from './answer.ts';
import type { AnyHandler, Call } from './call.ts';
import { findJob, readPlace } from './find-job.ts';
import { HANDLERS } from './handlers/handlers.ts';
import { LargeBodies, mayBeLarge, readBody } from './read-body.ts';
import { endUnread } from './refuse-early.ts';
import type { RequestLimits } from './request-limits.ts';
import type { Match } from './router.ts';
import type { Services } from './services.ts';
import { endWithRights } from './stream-rights.ts';
import { validate } from './validate.ts';

/** Routes whose handlers wait, though they answer with JSON. */
const WAITING: ReadonlySet<string> = new Set(['waitForJob', 'waitForJobs', 'feedJob']);

/** Made once: an error with its stack takes longer than all else at the end of a short request. */
const GONE = new DOMException('the request is over', 'AbortError');

/** What is known of a request while it is worked on. */
interface Visit {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly local: boolean;
  readonly address: string;
  principal: Principal;
}

export interface PipelineParts {
  readonly limits: RequestLimits;
  /** Aborted when the head stops, so that long polls and streams end. */
  readonly stopping: AbortSignal;
  /** Told of each connection with good credentials. */
  readonly proven: (socket: Socket) => void;
  readonly parts: readonly HeadPart[];
}

export class Pipeline {
  readonly #services: Services;
  readonly #limits: RequestLimits;
  /** By route. */
  readonly #large = new Map<string, LargeBodies>();
  readonly #stopping: AbortSignal;
  readonly #proven: PipelineParts['proven'];
  readonly #parts: readonly HeadPart[];
  /** By the names of their routes. */
  readonly #handlers: ReadonlyMap<string, AnyHandler>;

  constructor(services: Services, { limits, stopping, proven, parts }: PipelineParts) {
    this.#services = services;
    this.#limits = limits;
    this.#stopping = stopping;
    this.#proven = proven;
    this.#parts = parts;
    this.#handlers = handlersOf(parts);
  }

  /** Never rejects. `local`: over the unix socket. */
  async handle(incoming: IncomingMessage, response: ServerResponse, local: boolean): Promise<void> {
    const { clock, counts } = this.#services;
    const startedAt = clock.monotonic();
    const address = local ? 'unix socket' : (incoming.socket.remoteAddress ?? 'unknown');
    const visit: Visit = { incoming, response, local, address, principal: { kind: 'nobody' } };
    const match = this.#services.router.match(incoming.method ?? '', incoming.url ?? '');
    const refusal = match.ok
      ? await this.#guarded(visit, match.value)
      : await this.#unknown(visit, match.error);
    if (refusal !== null) this.#refuse(visit, refusal);
    if (match.ok) this.#audit(visit, match.value, refusal);
    const seconds = (clock.monotonic() - startedAt) / 1000;
    const name = match.ok ? match.value.route.name : 'unknown';
    counts.add(name, response.statusCode, seconds);
  }

  /** Identifies the sender, and limits the rate of attempts; also for the agents' WebSocket. */
  async identify(
    visit: Pick<Visit, 'incoming' | 'local' | 'address'>,
    route: Pick<Route, 'name' | 'isMany'>,
  ): Promise<Result<Principal, Refusal>> {
    const { clock } = this.#services;
    const isLogin = route.name === 'loginPage';
    const principal = await this.#principal(visit, isLogin);
    if (principal.ok && principal.value.kind !== 'nobody') this.#proven(visit.incoming.socket);
    // Who is logged in may not guess, nor open sessions, faster than others.
    const nowMs = clock.monotonic();
    const isMany = route.isMany === true;
    const limit = isLogin
      ? await this.#limits.strangerExceeded(visit, nowMs)
      : await this.#limits.exceeded(visit, principal, { nowMs, isMany });
    return limit === null ? principal : err(refuse('rate.exceeded', { limit: String(limit) }));
  }

  /**
   * By the header Authorization, or by the cookie of a browser with the key of its page; at a login
   * that does not count, as a session that is over must not stand in the way of the next.
   */
  async #principal(
    { incoming, local }: Pick<Visit, 'incoming' | 'local'>,
    isLogin: boolean,
  ): Promise<Result<Principal, Refusal>> {
    const { authenticator, pagePeers, pageSessions } = this.#services;
    const { headers, socket } = incoming;
    const page =
      headers.authorization === undefined && !isLogin
        ? pageCredentials(headers, pageSessions.cookieName)
        : null;
    if (page === null) return authenticator.authenticate(headers.authorization, local);
    const foreign = refuseForeignPage(headers);
    return foreign === null
      ? authenticator.authenticatePage(page, pagePeers.of(socket))
      : err(foreign);
  }

  /** A thrown error is a bug: it is logged under a number that the answer names. */
  async #guarded(visit: Visit, match: Match): Promise<Refusal | null> {
    try {
      return await this.#run(visit, match);
    } catch (error) {
      const { chance, log } = this.#services;
      const incident = Buffer.from(chance.bytes(4)).toString('hex');
      const stack = error instanceof Error ? error.stack : String(error);
      log.error({ incident, route: match.route.name, stack }, 'a request failed because of a bug');
      return refuse('internal.error', { incident });
    }
  }

  async #run(visit: Visit, named: Match): Promise<Refusal | null> {
    const { route } = named;
    const foreign = this.#foreignHost(visit, route);
    if (foreign !== null) return foreign;
    const identified = await this.identify(visit, route);
    if (!identified.ok) return identified.error;
    const principal = identified.value;
    visit.principal = principal;
    const refusal =
      authorizeRoute(route, principal, visit.local) ??
      refuseStale(route, principal, this.#services.engine.now());
    if (refusal !== null) return refusal;
    const match = this.#withOwnId(named);
    if (route.produces === 'upgrade') {
      const actor = principal.kind === 'user' ? principal.actor : null;
      const owned = await this.#ownedJob(route, match, actor);
      return owned.ok ? upgradeNeeded() : owned.error;
    }
    if (route.bodyBytesMax === undefined || !mayBeLarge(visit.incoming)) {
      return this.#serve(visit, match, principal);
    }
    const large = this.#large.get(route.name) ?? new LargeBodies();
    this.#large.set(route.name, large);
    return large.inTurn(() => this.#serve(visit, match, principal));
  }

  /** Refusal for browsers only: programs know the head by its certificate, under whatever name. */
  #foreignHost({ incoming, local }: Visit, { name }: Route): Refusal | null {
    const { pagePeers, pageHosts } = this.#services;
    const { headers, socket } = incoming;
    const isPage = name in uiRoutes && name !== 'createPageLink';
    const isBrowser = isPage || PAGE_KEY_HEADER in headers || pagePeers.of(socket) !== null;
    return isBrowser && !local ? pageHosts.refuse(headers.host) : null;
  }

  /** A path may name a job as its site does: `/v1/jobs/hpc%2F4711`. */
  #withOwnId(match: Match): Match {
    const { route, params } = match;
    const { id = '' } = params;
    if (!id.includes('/') || !route.path.startsWith('/v1/jobs/:id')) return match;
    const { state } = this.#services.engine;
    for (const { ownIdOf } of this.#parts) {
      const own = ownIdOf?.(state, id) ?? null;
      if (own !== null) return { ...match, params: { ...params, id: own } };
    }
    return match;
  }

  async #serve(visit: Visit, match: Match, principal: Principal): Promise<Refusal | null> {
    const { route } = match;
    const body = await this.#body(visit, route);
    if (!body.ok) return body.error;
    const params = validate(route.params, match.params, 'path');
    if (!params.ok) return params.error;
    const query = validate(queryOf(route), readQuery(match.query), 'query');
    if (!query.ok) return query.error;
    const checked = validate(route.body, body.value, 'body');
    if (!checked.ok) return checked.error;
    const actor = principal.kind === 'user' ? principal.actor : null;
    const job = await this.#ownedJob(route, match, actor);
    if (!job.ok) return job.error;
    const epoch = this.#epoch(route, principal, visit.incoming);
    if (!epoch.ok) return epoch.error;
    const call = {
      params: params.value,
      query: query.value,
      body: checked.value,
      principal,
      actor,
      epoch: epoch.value,
      job: job.value,
      local: visit.local,
      incoming: visit.incoming,
      response: visit.response,
      loggedIn: (who: UserActor) => {
        visit.principal = { kind: 'user', actor: who };
      },
      signal: this.#signal(route, visit, actor),
    };
    return this.#answer(route, call as unknown as Call<never>);
  }

  /** A stream is its handler's to read, as it comes. */
  async #body(
    { incoming, principal }: Visit,
    { access, body, consumes, bodyBytesMax }: Route,
  ): Promise<Result<unknown, Refusal>> {
    if (consumes !== undefined || !hasBody(incoming)) return ok(undefined);
    const isOpen = access.kind === 'public' || principal.kind === 'nobody' || body === undefined;
    const bytesMax = isOpen ? OPEN_REQUEST_BYTES_MAX : bodyBytesMax;
    return readBody(incoming, this.#services.clock, bytesMax);
  }

  async #answer(route: Route, call: Call<never>): Promise<Refusal | null> {
    const { engine } = this.#services;
    const { lives } = engine;
    const handler = this.#handlers.get(route.name);
    if (handler === undefined) throw new Error(`nobody handles ${route.name}`);
    const result = await handler(this.#services, call);
    if (!result.ok) return result.error;
    if (route.reply === undefined) return null;
    if (route.method === 'GET' && route.access.kind === 'user') {
      // What was seen in memory may not be durable yet, and then nobody must hear of it.
      await engine.settled();
      if (!engine.isReadable || engine.lives !== lives) {
        const cause = engine.failure ?? 'the last commit failed';
        return refuse('store.unavailable', { cause });
      }
    }
    await answerJson(call.response, result.value);
    return null;
  }

  async #ownedJob(
    { access }: Route,
    { params }: Match,
    actor: UserActor | null,
  ): Promise<Result<JobRecord | null, Refusal>> {
    if (access.kind !== 'user' || actor === null) return ok(null);
    const { owned } = access;
    const find = this.#parts.find((part) => part.owners?.[owned ?? ''])?.owners?.[owned ?? ''];
    if (find !== undefined) {
      return find(this.#services.engine.state, { id: params['id'] ?? '', actor });
    }
    if (owned !== 'job') return ok(null);
    const place = readPlace(params['id'] ?? '');
    if (!place.ok) return place;
    const id = place.value.jobId;
    const found = await findJob(this.#services.engine, id);
    if (!found.ok) return found;
    const refusal = authorizeObject(actor, { kind: 'job', id, owner: found.value.owner });
    return refusal === null ? found : err(refusal);
  }

  /** The task for which a node asks. */
  #epoch(
    { access }: Route,
    principal: Principal,
    { headers }: IncomingMessage,
  ): Result<EpochCaller | null, Refusal> {
    if (access.kind !== 'user_or_epoch' || principal.kind !== 'node') return ok(null);
    const epochId = headers[EPOCH_HEADER];
    return epochCaller(this.#services.engine.state, principal.name, String(epochId ?? 'nothing'));
  }

  /** Only those who wait need one: it costs more than the rest of a short request. */
  #signal({ name, consumes, produces }: Route, visit: Visit, actor: UserActor | null): AbortSignal {
    const { response } = visit;
    const isShort = consumes === undefined && produces === undefined && !WAITING.has(name);
    if (isShort) return this.#stopping;
    const gone = new AbortController();
    const abort = (): void => gone.abort(GONE);
    this.#stopping.addEventListener('abort', abort);
    response.once('close', () => {
      this.#stopping.removeEventListener('abort', abort);
      abort();
    });
    if (this.#stopping.aborted) abort();
    if (produces !== undefined && actor !== null) {
      const ask = () => this.#principal(visit, false);
      endWithRights(this.#services, { actor, ask, gone });
    }
    return gone.signal;
  }

  async #unknown(visit: Visit, path: string): Promise<Refusal> {
    const { clock } = this.#services;
    const limit = await this.#limits.strangerExceeded(visit, clock.monotonic());
    if (limit === null) return refuse('route.unknown', { path });
    return refuse('rate.exceeded', { limit: String(limit) });
  }

  #refuse({ incoming, response }: Visit, refusal: Refusal): void {
    const unread = hasBody(incoming) && !incoming.readableEnded;
    if (!unread || response.headersSent) {
      sendRefusal(response, refusal);
      return;
    }
    // A body that nobody will read is not waited for: the connection ends with the answer.
    response.setHeader('connection', 'close');
    sendRefusal(response, refusal, { ends: false });
    endUnread(incoming, response, this.#services.clock);
  }

  #audit(
    { principal, address, response }: Visit,
    { route, params }: Match,
    refusal: Refusal | null,
  ) {
    if (route.method === 'GET' || route.quiet === true) return;
    const fields = {
      who: nameOf(principal),
      from: address,
      what: route.name,
      ...params,
      status: response.statusCode,
      result: refusal?.code ?? 'ok',
    };
    this.#services.audit.info(fields, 'request');
  }
}

function handlersOf(parts: readonly HeadPart[]): ReadonlyMap<string, AnyHandler> {
  const tables = [HANDLERS as Readonly<Record<string, unknown>>];
  for (const { handlers } of parts) if (handlers !== undefined) tables.push(handlers);
  return new Map(tables.flatMap((table) => Object.entries(table)) as [string, AnyHandler][]);
}

function upgradeNeeded(): Refusal {
  return refuse('request.malformed', { what: 'this path speaks WebSocket only (RFC 6455)' });
}

function nameOf(principal: Principal): string {
  if (principal.kind === 'user') return principal.actor.name;
  if (principal.kind === 'node') return `node ${principal.name}`;
  if (principal.kind === 'worker') return `worker ${principal.worker.epochId}`;
  return principal.kind === 'join' ? `join token ${principal.tokenId}` : 'nobody';
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined;
}

/** What is public, as browsers and probes ask for it, takes whatever is behind the `?`. */
function queryOf({ query, access }: Route): Route['query'] {
  return query ?? (access.kind === 'public' ? undefined : noQuery);
}

/** A name that is given twice has a list of values, which only some take. */
function readQuery(text: string): Record<string, string | string[]> {
  if (text === '') return {};
  const given = new URLSearchParams(text);
  const names = [...new Set(given.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = given.getAll(name);
      return [name, values.length === 1 ? (values[0] as string) : values];
    }),
  );
}
