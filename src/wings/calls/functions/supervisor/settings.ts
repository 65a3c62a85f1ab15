// What a worker is told by its environment: which pool it is of, where the head is, who it is.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { insideProof } from '../../../../kernel/wire/inside-proof.ts';

export interface WorkerSettings {
  readonly pool: string;
  readonly head:
    | { readonly url: string; readonly fingerprint?: string }
    | { readonly socketPath: string };
  readonly epochId: string;
  readonly key: string;
  /** Node, task and epoch. */
  readonly worker: string;
  /** When a child is replaced; 0 for never. */
  readonly callsMax: number;
  readonly bytesMax: number;
  /** The interpreter that runs functions of Python programs; absent: they are of Node programs. */
  readonly python?: string;
}

/** Kept from the processes that run functions: it holds the secret of the worker. */
export const SECRET_VARIABLE = 'WEFT_CALLS';

/**
 * What functions find: all but that secret, where the head of their pool is unless the pool says
 * it, and a proof of where they run. A head with an address wants a token, which the pool has to
 * name.
 */
export function childEnvironment(
  { head, epochId, key }: WorkerSettings,
  { [SECRET_VARIABLE]: _, ...env }: NodeJS.ProcessEnv,
  depth: number,
): NodeJS.ProcessEnv {
  const isTold = WHERE_HEAD_IS.some((name) => env[name] !== undefined);
  const where = 'socketPath' in head && !isTold ? { WEFT_SOCKET: head.socketPath } : {};
  return { ...env, ...where, WEFT_WORKER: insideProof({ epochId, key, depth }) };
}

const WHERE_HEAD_IS = ['WEFT_HEAD', 'WEFT_SOCKET', 'WEFT_DIR'] as const;

export function readSettings(env: NodeJS.ProcessEnv): Result<WorkerSettings, string> {
  const { WEFT_POOL: pool, [SECRET_VARIABLE]: text } = env;
  if (pool === undefined || text === undefined)
    return err(
      `WEFT_POOL and ${SECRET_VARIABLE} are not set: agents start it for workers of pools`,
    );
  const said = jsonOf(text);
  const { head, epochId, key, worker, recycle, python } = said ?? {};
  if (!isHead(head) || !isText(epochId) || !isText(key) || !isText(worker))
    return err(`${SECRET_VARIABLE} is not what an agent of this release gives`);
  const { calls, bytes } = (recycle ?? {}) as { calls?: unknown; bytes?: unknown };
  const recycled = { callsMax: amountOf(calls), bytesMax: amountOf(bytes) };
  const runtime = isText(python) ? { python } : {};
  return ok({ pool, head, epochId, key, worker, ...recycled, ...runtime });
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined; // The caller says what is wrong, without the text: it holds a secret.
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isHead(value: unknown): value is WorkerSettings['head'] {
  if (typeof value !== 'object' || value === null) return false;
  const { url, socketPath, fingerprint } = value as Record<string, unknown>;
  return isText(socketPath) || (isText(url) && (fingerprint === undefined || isText(fingerprint)));
}

function amountOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
