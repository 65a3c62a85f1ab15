// What the head tells its nodes of itself, so that they can tell it should it ever lose its newest
// records. Signed: one hostile node must not be able to stop the head.

import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { State } from '../machine/state.ts';
import type { Stamp, Standing } from '../model/life.ts';

/** What is known of the newest durable record. */
interface Durable {
  readonly state: State;
  readonly seq: number;
}

export class Stamps {
  /** Made once: of bytes, each proof would make one first, which takes five times as long. */
  readonly #key: KeyObject;
  readonly #cluster: string;
  #last: Stamp | null = null;

  /** `key`: kept beside the store, and put back with it. */
  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key);
    this.#cluster = createHash('sha256').update(key).digest('hex').slice(0, 16);
  }

  /** Null where lives are not counted. */
  make({ state, seq }: Durable): Stamp | null {
    const life = state.lives.at(-1)?.id;
    if (life === undefined) return null;
    if (this.#last?.seq === seq && this.#last.life === life) return this.#last;
    const { nextJobId, nextReservationId, epochMax } = state;
    const standing = { life, seq, given: { nextJobId, nextReservationId, epochMax } };
    this.#last = { ...standing, cluster: this.#cluster, proof: this.#proof(standing) };
    return this.#last;
  }

  /** Whether a head with this key has said so. `another`: another cluster's, or an older key's. */
  judge(stamp: Stamp): 'true' | 'another' | 'forged' {
    if (stamp.cluster !== this.#cluster) return 'another';
    const proof = Buffer.from(this.#proof(stamp));
    const said = Buffer.from(stamp.proof);
    return said.length === proof.length && timingSafeEqual(said, proof) ? 'true' : 'forged';
  }

  #proof({ life, seq, given }: Standing): string {
    const { nextJobId, nextReservationId, epochMax } = given;
    const text = ['weft-stamp-1', life, seq, nextJobId, nextReservationId, epochMax].join(' ');
    return createHmac('sha256', this.#key).update(text).digest('base64url').slice(0, 32);
  }
}
