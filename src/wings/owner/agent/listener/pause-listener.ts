// The agent's own listener: HTTP over a unix socket, for whoever owns the machine or sits at it. It
// works while the head is away. Everybody may knock; who asks is proven for each request.

import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import type { AgentInside } from '../../../../kernel/agent/part.ts';
import type { Pausing } from '../../../../kernel/agent/pausing.ts';
import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { isWhole } from '../../../../kernel/base/whole.ts';
import { type Bounds, Newcomers } from '../../../../kernel/listeners/newcomers.ts';
import { PeerOwners, type UidsOf } from '../../../../kernel/listeners/peer-owners.ts';
import {
  AGENT_PATHS,
  type AgentStatus,
  type PauseReply,
  type ProofAsked,
  type SessionReply,
} from '../../../../kernel/model/agent-socket.ts';
import {
  formatRefusal,
  KINDS,
  kindOf,
  type Refusal,
  refuse,
} from '../../../../kernel/model/errors.ts';
import type { Clock } from '../../../../kernel/ports/clock.ts';
import type { Log } from '../../../../kernel/ports/log.ts';
import type { Proofs, ProvenUser } from '../../../../kernel/ports/proofs.ts';
import { isLive, processesOf } from '../../../../kernel/runner/epoch.ts';
import type { RunnerState } from '../../../../kernel/runner/state.ts';
import type { YieldWatch } from '../yield-watch.ts';
import { mayPause, type PauseRights } from './rights.ts';
import { readReport } from './session.ts';

/** The agent's session with its head. */
export interface Link {
  readonly isConnected: boolean;
}

export interface PauseListenerWorld {
  readonly node: string;
  readonly state: RunnerState;
  readonly pausing: Pausing;
  readonly watch: Pick<YieldWatch, 'presence' | 'wantsInput' | 'note'>;
  readonly link: Link;
  readonly pauseMaxMs: number;
  readonly rights: PauseRights;
  readonly proofs: Proofs;
  /** What wings answer here. */
  readonly atSocket?: AgentInside['atSocket'];
  /** Tells whose connections are; absent: nobody does. */
  readonly uidsOf?: UidsOf | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PauseListener {
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 4096;
const REQUEST_MS = 10_000;
/**
 * Local users who hold connections open must not use up the agent's descriptors, nor keep owners
 * out. An honest client sends its request at once.
 */
const BOUNDS: Bounds = { perAddress: 0, total: 0, local: 256, graceMs: 100 };
/** O_PATH of open(2), which Node.js does not name. */
const HOLD = 0o10000000;

type Answer = Result<object, Refusal>;
type Body = Readonly<Record<string, unknown>>;

/** Resolves when it listens. What lies at the path is of an agent that is gone. */
export async function openPauseListener(
  socketPath: string,
  world: PauseListenerWorld,
): Promise<PauseListener> {
  mkdirSync(path.dirname(socketPath), { recursive: true, mode: 0o755 });
  rmSync(socketPath, { force: true });
  const owners = world.uidsOf === undefined ? undefined : new PeerOwners(world.uidsOf);
  const newcomers = new Newcomers(() => world.clock.monotonic(), BOUNDS, { owners });
  // Not imported: an import reads every name of the module, and one of them loads a WebSocket
  // client.
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    void respond({ world, newcomers }, request, response);
  });
  server.on('connection', (socket: Socket) => newcomers.add(socket, true));
  const held = await listen(server, socketPath);
  world.proofs.listensOn(socketPath);
  await chmod(socketPath, 0o666);
  let closed: Promise<void> | null = null;
  return { close: () => (closed ??= closeAll(server, { held, socketPath })) };
}

function closeAll(
  server: Server,
  { held, socketPath }: { held: number; socketPath: string },
): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      closeSync(held);
      resolve();
    });
    server.closeAllConnections();
    rmSync(socketPath, { force: true });
  });
}

/**
 * By a held directory: a path of any length fits into the address of a socket (unix(7)) that way.
 * Resolves with what holds it, until the server is closed: that removes the socket by this address.
 */
function listen(server: Server, socketPath: string): Promise<number> {
  const held = openSync(path.dirname(socketPath), HOLD | constants.O_DIRECTORY);
  const short = `/proc/self/fd/${held}/${path.basename(socketPath)}`;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(short, () => resolve(held));
  });
}

interface Side {
  readonly world: PauseListenerWorld;
  readonly newcomers: Newcomers;
}

async function respond(
  { world, newcomers }: Side,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const body = request.method === 'GET' ? ok({}) : await readBody(request);
    newcomers.proven(request.socket);
    const answer = body.ok ? await answerTo(world, request, body.value) : body;
    if (answer.ok) send(response, 200, answer.value);
    else send(response, KINDS[kindOf(answer.error.code)].http, { error: asFailure(answer.error) });
  } catch (error) {
    world.log.error({ error, url: request.url }, 'a request at the listener of the agent failed');
    // Whoever asks reads it as it is: it is no answer of ours.
    response.writeHead(500).end('the agent has a bug; its log says more');
  }
}

async function answerTo(
  world: PauseListenerWorld,
  { url = '', socket }: Pick<IncomingMessage, 'url' | 'socket'>,
  body: Body,
): Promise<Answer> {
  switch (url) {
    case AGENT_PATHS.status:
      return ok(statusOf(world));
    case AGENT_PATHS.proof:
      return (await world.proofs.begin(world.clock.now())) satisfies Result<ProofAsked, Refusal>;
    case AGENT_PATHS.pause:
      return pause(world, body);
    case AGENT_PATHS.unpause:
      return unpause(world, body);
    case AGENT_PATHS.session:
      return session(world, body);
    default:
      return ofWing(world, url, { body, socket });
  }
}

/** By the directory that its maker owns, and the connection where it can be told (SO_PEERCRED). */
async function ofWing(
  world: PauseListenerWorld,
  url: string,
  { body, socket }: { readonly body: Body; readonly socket: Socket },
): Promise<Answer> {
  const answer = world.atSocket?.get(url);
  if (answer === undefined) return err(refuse('route.unknown', { path: url }));
  const user = await provenBy(world, body);
  if (!user.ok) return user;
  const [uid = null] = (await world.uidsOf?.([socket])) ?? [];
  if (uid !== null && uid !== user.value.uid) {
    return err(refuse('auth.required', { what: `the connection is one of uid ${uid}.` }));
  }
  return answer(user.value, body);
}

function statusOf({ node, pausing, watch, link, pauseMaxMs }: PauseListenerWorld): AgentStatus {
  const { isConnected } = link;
  return { node, pause: pausing.now, pauseMaxMs, presence: watch.presence, isConnected };
}

async function pause(world: PauseListenerWorld, body: Body): Promise<Answer> {
  const user = await ownerOf(world, body);
  if (!user.ok) return user;
  const { durationMs, requeue } = body;
  if (!isWhole(durationMs, 0, Number.MAX_SAFE_INTEGER) || typeof requeue !== 'boolean') {
    return err(refuse('request.malformed', { what: 'durationMs in ms and requeue are expected' }));
  }
  const { node, pausing, state, log } = world;
  const wish = { by: user.value.name, durationMs: durationMs as number, requeue };
  const begun = await pausing.pause(wish);
  if (!begun.ok) return begun;
  log.info(wish, 'the node is paused');
  const tasks = [...state.epochs.values()].filter((epoch) => processesOf(epoch).some(isLive));
  return ok({ node, pause: begun.value, tasks: tasks.length } satisfies PauseReply);
}

async function unpause(world: PauseListenerWorld, body: Body): Promise<Answer> {
  const user = await ownerOf(world, body);
  if (!user.ok) return user;
  const ended = await world.pausing.unpause(user.value.name);
  if (!ended.ok) return ended;
  world.log.info({ by: user.value.name }, 'the pause of the node is over');
  return ok(statusOf(world));
}

/** Only owners: a report that somebody types keeps the node from working. */
async function session(world: PauseListenerWorld, body: Body): Promise<Answer> {
  const user = await ownerOf(world, body);
  if (!user.ok) return user;
  const report = readReport(body, user.value.name);
  if (!report.ok) return report;
  const { node, watch } = world;
  watch.note(report.value);
  return ok({ node, wanted: watch.wantsInput } satisfies SessionReply);
}

function provenBy(
  { proofs, clock }: PauseListenerWorld,
  { challenge }: Body,
): Promise<Result<ProvenUser, Refusal>> {
  return proofs.finish(typeof challenge === 'string' ? challenge : '', clock.now());
}

async function ownerOf(
  world: PauseListenerWorld,
  body: Body,
): Promise<Result<ProvenUser, Refusal>> {
  const user = await provenBy(world, body);
  if (!user.ok) return user;
  const allowed = await mayPause(world.rights, world.node, user.value);
  return allowed.ok ? user : allowed;
}

async function readBody(request: IncomingMessage): Promise<Result<Body, Refusal>> {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) {
    // Read to its end all the same: it could not be answered before.
    if (text.length <= BODY_BYTES_MAX) text += piece as string;
  }
  if (text.length > BODY_BYTES_MAX) {
    return err(refuse('request.too_large', { limit: `${BODY_BYTES_MAX} bytes` }));
  }
  try {
    const body: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof body === 'object' && body !== null) return ok(body as Body);
  } catch {
    // Said below, as for whatever else is no object.
  }
  return err(refuse('request.malformed', { what: 'a JSON object is expected' }));
}

/** The form of the head's API, so that one client reads both. */
function asFailure({ code, details, hint }: Refusal): object {
  const message = formatRefusal({ code, details });
  return { code, kind: kindOf(code), message, details, hint: hint ?? null };
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  // One request a connection, so that a stop of the agent waits for nobody.
  const headers = { 'content-type': 'application/json', connection: 'close' };
  response.writeHead(status, headers).end(text);
}
