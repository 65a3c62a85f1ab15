// How often whom: users by name, nodes by name, strangers by address, and over the unix socket by
// connection, and then, when strangers there ask much, by the user whose process is at the other
// end.

import type { IncomingMessage } from 'node:http';
import type { Result } from '../../base/result.ts';
import type { PeerOwners } from '../../listeners/peer-owners.ts';
import type { Refusal } from '../../model/errors.ts';
import type { Principal } from '../auth/authenticate.ts';

/** Guesses at tokens from one address; a login needs three requests. */
const STRANGER_RATE = 50;
const STRANGER_BURST = 500;
/** Requests of one connection without credentials: some logins' worth. */
const CONNECTION_RATE = 10;
const CONNECTION_BURST = 30;
/**
 * Requests of all such connections together: far below what the head can answer. So much is given
 * without asking whose they are, which costs a process.
 */
const LOCAL_RATE = 500;
/** After a restart a thousand waiting commands send three requests each before they are known. */
const LOCAL_BURST = 4000;
/** A share of each local user beyond that: a flood by one leaves the others' logins theirs. */
const OWNER_RATE = 50;
const OWNER_BURST = 500;
/** A node needs one connection; one that flaps waits longer from time to time. */
const NODE_RATE = 2;
const NODE_BURST = 20;
/** Connections of which a node has many: one for each process of a step. */
const LINE_RATE = 50;
const LINE_BURST = 300;

export interface Caller {
  readonly incoming: Pick<IncomingMessage, 'socket' | 'headers'>;
  /** Over the unix socket. */
  readonly local: boolean;
  readonly address: string;
}

export class RequestLimits {
  readonly #users: RateLimit;
  readonly #nodes = new RateLimit(NODE_RATE, NODE_BURST);
  readonly #lines = new RateLimit(LINE_RATE, LINE_BURST);
  readonly #strangers = new RateLimit(STRANGER_RATE, STRANGER_BURST);
  readonly #connections = new RateLimit(CONNECTION_RATE, CONNECTION_BURST);
  readonly #local = new RateLimit(LOCAL_RATE, LOCAL_BURST);
  readonly #owners = new RateLimit(OWNER_RATE, OWNER_BURST);
  readonly #peers: Pick<PeerOwners, 'of'> | undefined;
  readonly #numbers = new WeakMap<object, string>();
  #count = 0;

  /** `userRate`: requests a second and user. `peers`: who local clients are; absent: unknown. */
  constructor(userRate: number, peers?: Pick<PeerOwners, 'of'>) {
    this.#users = new RateLimit(userRate);
    this.#peers = peers;
  }

  /**
   * Null when the request may be answered; else how many a second would have been right. `isMany`:
   * the route is dialled often, which must not keep an agent's own connection out.
   */
  async exceeded(
    caller: Caller,
    principal: Result<Principal, Refusal>,
    { nowMs, isMany }: { readonly nowMs: number; readonly isMany: boolean },
  ): Promise<number | null> {
    if (!principal.ok) return this.strangerExceeded(caller, nowMs);
    const { value } = principal;
    if (value.kind === 'user') return spend(this.#users, value.actor.name, nowMs);
    if (value.kind === 'node' || value.kind === 'worker') {
      const dials = caller.incoming.headers.upgrade !== undefined;
      const name = value.kind === 'node' ? value.name : value.worker.epochId;
      const dialled = isMany ? this.#lines : this.#nodes;
      return spend(dials ? dialled : this.#users, `${value.kind} ${name}`, nowMs);
    }
    return this.strangerExceeded(caller, nowMs);
  }

  async strangerExceeded(
    { incoming, local, address }: Caller,
    nowMs: number,
  ): Promise<number | null> {
    if (!local) return spend(this.#strangers, address, nowMs);
    // First its own allowance: one that floods must not use up that of all.
    const own = spend(this.#connections, this.#numberOf(incoming.socket), nowMs);
    if (own !== null) return own;
    const together = spend(this.#local, address, nowMs);
    if (together === null) return null;
    const owner = (await this.#peers?.of(incoming.socket)) ?? null;
    return owner === null ? together : spend(this.#owners, owner, nowMs);
  }

  #numberOf(socket: object): string {
    let number = this.#numbers.get(socket);
    if (number === undefined) {
      this.#count += 1;
      number = String(this.#count);
      this.#numbers.set(socket, number);
    }
    return number;
  }
}

function spend(limit: RateLimit, name: string, nowMs: number): number | null {
  return limit.take(name, nowMs) ? null : limit.perSecond;
}

// Token buckets: so many requests a second, and a burst of as many at once.

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Names remembered; one that is forgotten starts with a full bucket. */
const BUCKETS_MAX = 10_000;

class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, burst = perSecond) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** `nowMs`: a clock that never jumps. False: too many, try later. */
  take(name: string, nowMs: number): boolean {
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = { tokens: this.#burst, filledAt: nowMs };
      this.#buckets.set(name, bucket);
      this.#trim();
    }
    const grown = ((nowMs - bucket.filledAt) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(this.#burst, bucket.tokens + grown);
    bucket.filledAt = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #trim(): void {
    for (const name of this.#buckets.keys()) {
      if (this.#buckets.size <= BUCKETS_MAX) return;
      this.#buckets.delete(name);
    }
  }
}
