// Jobs of a site's users that the site did not start when it was told to. Each is held for a while, so that
// its nodes are others' meanwhile; the more often, the longer.

import type { SiteJob } from '../../core/model/site.ts';

const HELD_MIN_MS = 60_000;
const HELD_MAX_MS = 960_000;
/** The oldest are forgotten. */
const KEPT_MAX = 1000;

interface One {
  readonly why: string;
  readonly until: number;
  readonly heldMs: number;
}

export class Untaken {
  readonly #all = new Map<string, One>();

  /** @param now here and below by the clock that never jumps */
  note(job: string, why: string, now: number): void {
    const before = this.#all.get(job);
    const heldMs = Math.min(2 * (before?.heldMs ?? HELD_MIN_MS / 2), HELD_MAX_MS);
    this.#all.delete(job);
    this.#all.set(job, { why, until: now + heldMs, heldMs });
    const [oldest] = this.#all.keys();
    if (this.#all.size > KEPT_MAX && oldest !== undefined) this.#all.delete(oldest);
  }

  /** Why it is not to be started now; null: it may be. */
  of(job: string, now: number): string | null {
    const one = this.#all.get(job);
    return one === undefined || now >= one.until ? null : one.why;
  }

  /** A listed job as it is for the plan. */
  seen(job: SiteJob, now: number): SiteJob {
    const why = job.state === 'waiting' ? this.of(job.id, now) : null;
    return why === null ? job : { ...job, state: 'held', reason: `${why}; tried again later` };
  }
}
