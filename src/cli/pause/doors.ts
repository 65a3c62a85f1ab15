// The agents of this machine, asked through their own sockets: no head is needed for it.

import { existsSync } from 'node:fs';
import { ApiError } from '../../api/api-error.ts';
import { post, prove } from '../../api/local-login.ts';
import { createTransport } from '../../api/transport.ts';
import { DOOR_PATHS, type DoorStatus, type ProofAsked } from '../../core/model/agent-door.ts';
import { refuse } from '../../core/model/errors.ts';
import { Failure, failure } from '../../core/model/failure.ts';
import type { Context } from '../context.ts';
import { LocalPaths } from '../daemons/local-paths.ts';

/** Where the agent of the systemd unit keeps its node. */
const SYSTEM_DIRECTORY = '/var/lib/weft/node';

export interface LocalNode {
  readonly name: string;
  readonly socket: string;
}

/** What the agent says of itself; nobody is asked for who they are. Throws a failure. */
export async function statusOfNode({ name, socket }: LocalNode): Promise<DoorStatus> {
  const transport = createTransport({ socketPath: socket });
  try {
    return await post<DoorStatus>(transport.door(), DOOR_PATHS.status, {});
  } catch (error) {
    throw asFailure(name, error);
  } finally {
    transport.close();
  }
}

/** In the directory that was named, else in the user's own and in the machine's. */
export function localNodes({ directory, options, environment }: Context): LocalNode[] {
  const isNamed = options.dir !== undefined || Boolean(environment['WEFT_DIR']);
  const places = isNamed ? [directory] : [directory, SYSTEM_DIRECTORY];
  return places.flatMap((place) => {
    const paths = new LocalPaths(place);
    return paths.nodesWithDoor().map((name) => ({ name, socket: paths.door(name) }));
  });
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
    const door = transport.door();
    if (door.socket === null) throw unreachable(name, `${socket} is no socket`);
    return await prove(door, door.socket, {
      begin: () => post<ProofAsked>(door, DOOR_PATHS.proof, {}),
      finish: (challenge) => post<T>(door, path, { ...body, challenge }),
    });
  } catch (error) {
    throw asFailure(name, error);
  } finally {
    transport.close();
  }
}

function asFailure(name: string, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, kind, message, hint, details } = error;
  if (code === 'head.unreachable') return unreachable(name, details['cause'] ?? message);
  return new Failure({ code, kind, message, hint });
}

function unreachable(node: string, cause: string): Failure {
  return failure(refuse('agent.unreachable', { node, cause }));
}
