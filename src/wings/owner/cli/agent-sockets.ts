// The agents of this machine, asked through their own sockets: no head is needed for it.

import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ApiError } from '../../../kernel/api/api-error.ts';
import { post, prove } from '../../../kernel/api/local-login.ts';
import { createTransport } from '../../../kernel/api/transport.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { LocalPaths, SERVICES } from '../../../kernel/cli/daemons/local-paths.ts';
import {
  AGENT_PATHS,
  type AgentStatus,
  type ProofAsked,
} from '../../../kernel/model/agent-socket.ts';
import { announcedIn } from '../../../kernel/model/announcement.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { Failure, failure } from '../../../kernel/model/failure.ts';
import { parseNodeName } from '../../../kernel/model/ids.ts';

export interface LocalNode {
  readonly name: string;
  readonly socket: string;
}

/** The kernel's own list of this machine's unix sockets. */
const SOCKETS = '/proc/net/unix';
/** An agent answers at once, or when its disk has taken what it noted. */
const ANSWER_MS = 30_000;

/** What the agent says of itself; nobody is asked for who they are. Throws a failure. */
export async function statusOfNode({ name, socket }: LocalNode): Promise<AgentStatus> {
  const transport = createTransport({ socketPath: socket });
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    return await post<AgentStatus>(transport.peer(), AGENT_PATHS.status, {}, signal);
  } catch (error) {
    throw asFailure(name, error);
  } finally {
    transport.close();
  }
}

/**
 * In the directory that was named; else in the user's own and in the machine's, and those that
 * agents of directories of their own have announced.
 */
export function localNodes({
  directory,
  isNamed,
}: Pick<Context, 'directory' | 'isNamed'>): LocalNode[] {
  if (isNamed) return nodesIn(directory);
  const usual = [directory, SERVICES.node].flatMap(nodesIn);
  const known = new Set(usual.map(({ socket }) => socket));
  const more = announcedNodes().filter(({ socket, owner }) => {
    return isTrusted(owner) && !known.has(socket);
  });
  return [...usual, ...more.map(({ name, socket }) => ({ name, socket }))];
}

/** Agents of other users, who would have to be named: anybody can announce anything. */
export function strangersHere(): string[] {
  return announcedNodes().flatMap(({ socket, owner }) => {
    return isTrusted(owner) ? [] : [path.dirname(path.dirname(socket))];
  });
}

/** Root's agents and one's own. Root asks all: nobody gains by how root proves who it is. */
function isTrusted(owner: number): boolean {
  const own = process.getuid?.() ?? 0;
  return own === 0 || owner === 0 || owner === own;
}

function nodesIn(place: string): LocalNode[] {
  const paths = new LocalPaths(place);
  return paths.nodesWithDoor().map((name) => ({ name, socket: paths.door(name) }));
}

/** Listeners that are sockets, with who they are of. */
function announcedNodes(): (LocalNode & { readonly owner: number })[] {
  return announcedIn(readTable()).flatMap((socket) => {
    const name = parseNodeName(path.basename(socket, '.sock'));
    const owner = ownerOf(socket);
    return name.ok && owner !== null ? [{ name: name.value, socket, owner }] : [];
  });
}

/** Returns null when nobody here gets there. */
function ownerOf(socket: string): number | null {
  try {
    const status = lstatSync(socket);
    return status.isSocket() ? status.uid : null;
  } catch {
    return null; // Gone, of another file system's view, or in a folder that is somebody's own.
  }
}

function readTable(): string {
  try {
    return readFileSync(SOCKETS, 'utf8');
  } catch {
    return ''; // A machine that hides it, or another system: then they have to be named.
  }
}

/** Proves who asks, and asks. Throws a failure. */
export async function askNode<T>(
  { name, socket }: LocalNode,
  path: string,
  body: object,
): Promise<T> {
  if (!existsSync(socket)) throw unreachable(name, 'its socket is gone');
  const transport = createTransport({ socketPath: socket });
  try {
    const door = transport.peer();
    const signal = AbortSignal.timeout(ANSWER_MS);
    if (door.socket === null) throw unreachable(name, `${socket} is no socket`);
    return await prove(door, door.socket, {
      begin: () => post<ProofAsked>(door, AGENT_PATHS.proof, {}, signal),
      finish: (challenge) => post<T>(door, path, { ...body, challenge }, signal),
    });
  } catch (error) {
    throw asFailure(name, error);
  } finally {
    transport.close();
  }
}

function asFailure(name: string, error: unknown): unknown {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  if (isLate) return unreachable(name, `it has not answered within ${ANSWER_MS / 1000} s`);
  if (!(error instanceof ApiError)) return error;
  const { code, kind, message, hint, details } = error;
  if (code === 'head.unreachable') return unreachable(name, details['cause'] ?? message);
  return new Failure({ code, kind, message, hint });
}

function unreachable(node: string, cause: string): Failure {
  return failure(refuse('agent.unreachable', { node, cause }));
}
