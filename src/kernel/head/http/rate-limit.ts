// Token buckets: so many requests a second, and a burst of as many at once.

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Names remembered; one that is forgotten starts with a full bucket. */
const BUCKETS_MAX = 10_000;

export class RateLimit {
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
