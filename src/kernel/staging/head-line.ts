// The way to the head for the files of a task: the node asks, in the name of an epoch that it has.
// A head that is away is waited for until the task is not wanted any more.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../api/api-error.ts';
import { type Client, createClient } from '../api/client.ts';
import type { Address } from '../api/transport.ts';
import { Failure } from '../model/failure.ts';
import type { EpochId } from '../model/ids.ts';
import type { Log } from '../ports/log.ts';
import type { HeadAccess } from '../transfer/head-access.ts';

export interface HeadLineOptions {
  /** Where the head is now: it may have several addresses. */
  readonly address: () => Address;
  /** The node, as it says to the head who it is. */
  readonly name: string;
  readonly secret: string;
  readonly log: Log;
}

const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 5000;
/** What no other try mends, a bug of the head, is tried again for so long. */
const TROUBLE_MAX_MS = 120_000;
/** Room on a full head comes as somebody makes it; the job says all the while what it waits for. */
const NO_ROOM_MAX_MS = 12 * 3_600_000;
/** Longest wait for the beginning of an answer; a disk may be slow. */
const ANSWER_MS = 300_000;

export class HeadLine {
  readonly #options: HeadLineOptions;
  /** By address: what is under way at one that was left goes on there. */
  readonly #clients = new Map<string, Client>();

  constructor(options: HeadLineOptions) {
    this.#options = options;
  }

  #client(): Client {
    const address = this.#options.address();
    const key = 'socketPath' in address ? address.socketPath : address.url;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const made = createClient({ address, token: null });
    this.#clients.set(key, made);
    return made;
  }

  /** The head is on this machine: it is reached by a file. */
  get isLocal(): boolean {
    return 'socketPath' in this.#options.address();
  }

  /** Ends with the signal: whatever is under way fails. */
  access(epochId: EpochId, signal: AbortSignal): HeadAccess {
    const { name, secret } = this.#options;
    const headers = { authorization: `Node ${name}:${secret}`, 'weft-epoch': epochId };
    const head: Awaited<ReturnType<HeadAccess['head']>> = {
      address: this.#client().address,
      call: (route, { timeoutMs = ANSWER_MS, ...call } = {}) => {
        const either = timeoutMs === 0 ? signal : within(signal, timeoutMs);
        const all = { ...call, headers: { ...call.headers, ...headers }, signal: either };
        return this.#client().call(route, all).catch(asFailure);
      },
      stream: (route, call = {}) =>
        this.#client()
          .stream(route, { ...call, headers: { ...call.headers, ...headers }, signal })
          .catch(asFailure),
    };
    return {
      head: () => Promise.resolve(head),
      pause: (ms) => sleep(ms, undefined, { signal }),
      patiently: (_note, attempt) => this.#patiently(epochId, signal, attempt),
    };
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  async #patiently<T>(epoch: EpochId, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    // By patience: a bug of the head counts from when it shows, not from when room was short.
    const spent = new Map<number, number>();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
      try {
        return await attempt();
      } catch (error) {
        signal.throwIfAborted();
        const patienceMs = patienceFor(error);
        const spentMs = spent.get(patienceMs) ?? 0;
        if (spentMs >= patienceMs) throw error;
        spent.set(patienceMs, spentMs + pauseMs);
        const why = (error as Error).message;
        if (pauseMs === FIRST_PAUSE_MS) {
          this.#options.log.warn({ epoch, why }, 'files of a task wait for the head');
        }
        await sleep(pauseMs, undefined, { signal });
      }
    }
  }
}

function within(signal: AbortSignal, timeoutMs: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
}

/** How long it is worth trying again after this; 0: it is not. */
export function patienceFor(error: unknown): number {
  if ((error as Error).name === 'TimeoutError') return Number.POSITIVE_INFINITY;
  if (!(error instanceof Failure)) return 0;
  const { kind, code } = error;
  const passes = kind === 'unavailable' || kind === 'deadline_exceeded' || code === 'rate.exceeded';
  if (passes) return Number.POSITIVE_INFINITY;
  if (kind === 'resource_exhausted') return NO_ROOM_MAX_MS;
  return kind === 'internal' ? TROUBLE_MAX_MS : 0;
}

function asFailure(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const { code, kind, message, hint } = error;
  throw new Failure({ code, kind, message, hint });
}
