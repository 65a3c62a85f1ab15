// How calls end that have no result: a class for each way, so that a program can catch the one it
// means.

import { inspect } from 'node:util';
import { WeftError } from '../../../kernel/sdk/errors.ts';
import type { CallEnd } from '../core/own-call.ts';

type Settled = Extract<CallEnd, { kind: 'settled' }>;

/** What every error of a call knows. */
abstract class CallError extends WeftError {
  /** Number of the call in its pool, from 1. */
  readonly callId: number;
  /** Name of the function. */
  readonly functionName: string;
  /** The worker that had it, as `node, task and epoch`; null when none had. */
  readonly worker: string | null;

  constructor(
    of: { readonly callId: number; readonly functionName: string; readonly worker: string | null },
    parts: ConstructorParameters<typeof WeftError>[0],
  ) {
    const { callId, functionName, worker } = of;
    const details = { call: String(callId), function: functionName, ...parts.details };
    super({ ...parts, details: worker === null ? details : { ...details, worker } });
    this.callId = callId;
    this.functionName = functionName;
    this.worker = worker;
  }
}

/** Which call, for its error. */
export type CallName = ConstructorParameters<typeof CallError>[0];

/**
 * The function threw, or its promise was rejected. `cause` is what it threw, with its name,
 * message, own properties and cause; its stack is that of the worker. `code` is `call.failed`.
 */
export class RemoteError extends CallError {
  override readonly name = 'RemoteError';
  /** Name of the error that it threw, such as `TypeError`; of another value its type. */
  readonly remoteName: string;
  /** Stack on the worker; null when it threw no error. */
  readonly remoteStack: string | null;
  /** Which attempt threw it, from 1. */
  readonly attempt: number;

  constructor(of: CallName, thrown: unknown, attempt: number) {
    const isError = thrown instanceof Error;
    const remoteName = isError ? thrown.name : typeof thrown;
    const words = isError ? `${thrown.name}: ${thrown.message}` : describe(thrown);
    super(of, {
      code: 'call.failed',
      kind: 'failed_precondition',
      message: `${of.functionName} threw ${words}`,
      cause: thrown,
    });
    this.remoteName = remoteName;
    this.remoteStack = isError ? (thrown.stack ?? null) : null;
    this.attempt = attempt;
  }
}

/**
 * The worker, or the process in it, went away while it had the call: crashed, out of memory,
 * killed, its node lost. The call may have run. `code` is `call.worker_lost`.
 */
export class WorkerLost extends CallError {
  override readonly name = 'WorkerLost';
}

/** The call took longer than its `timeout`; its process was killed. `code` is `call.timeout`. */
export class CallTimeout extends CallError {
  override readonly name = 'CallTimeout';
}

/** The call was cancelled, by this program or by closing the pool. `code` is `call.cancelled`. */
export class CallCancelled extends CallError {
  override readonly name = 'CallCancelled';
}

/** The pool has ended. `code` is `pool.closed`. */
export class PoolClosed extends CallError {
  override readonly name = 'PoolClosed';
}

/**
 * The head could not be reached for as long as `patience` of `connect` says, or had given the calls
 * of this program up meanwhile. They may have run. `code` is `cluster.gone`.
 */
export class ClusterGone extends CallError {
  override readonly name = 'ClusterGone';
}

/** The pool does not take the call: what is wrong, the message says. `code` is `call.refused`. */
export class CallRefused extends CallError {
  override readonly name = 'CallRefused';
}

/** The error of a call that is over without a result. */
export function errorOf(of: CallName, { why, detail }: Pick<Settled, 'why' | 'detail'>): WeftError {
  const named = `${of.functionName} (call ${of.callId})`;
  switch (why) {
    case 'worker_lost':
      return new WorkerLost(of, {
        code: 'call.worker_lost',
        kind: 'unavailable',
        message: `${named} was lost. ${detail}`,
      });
    case 'timeout':
      return new CallTimeout(of, {
        code: 'call.timeout',
        kind: 'deadline_exceeded',
        message: `${named} ran out of time. ${detail}`,
      });
    case 'cancelled':
      return new CallCancelled(of, {
        code: 'call.cancelled',
        kind: 'failed_precondition',
        message: `${named} was cancelled. ${detail}`,
      });
    case 'pool_closed':
      return new PoolClosed(of, {
        code: 'pool.closed',
        kind: 'failed_precondition',
        message: `${named} cannot run: the pool has ended. ${detail}`,
      });
    case 'gone':
      return new ClusterGone(of, {
        code: 'cluster.gone',
        kind: 'unavailable',
        message: `What became of ${named} is not known. ${detail}`,
      });
    case 'refused':
      return new CallRefused(of, {
        code: 'call.refused',
        kind: 'invalid_argument',
        message: `${named} was refused. ${detail}`,
      });
    default:
      return why satisfies never;
  }
}

const ON_A_LINE = { depth: 1, compact: true, breakLength: Number.POSITIVE_INFINITY };

function describe(thrown: unknown): string {
  try {
    const text = typeof thrown === 'string' ? JSON.stringify(thrown) : inspect(thrown, ON_A_LINE);
    return text.length > 200 ? `${text.slice(0, 200)}…` : text;
  } catch {
    return `a value of type ${typeof thrown}`; // One whose own words throw, too.
  }
}
