// Jobs of a site's users that the site did not start when it was told to. Each is held for a while,
// so that its nodes are others' meanwhile; the more often, the longer.

import type { SiteJob } from '../../../../kernel/model/site.ts';
import { elementOf } from '../../model/site-elements.ts';

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
  /** By what `keyOf` says. */
  readonly #all = new Map<string, One>();

  /** @param now here and below by the clock that never jumps */
  note(job: string, why: string, now: number): void {
    const key = keyOf(job);
    const before = this.#all.get(key);
    const heldMs = Math.min(2 * (before?.heldMs ?? HELD_MIN_MS / 2), HELD_MAX_MS);
    this.#all.delete(key);
    this.#all.set(key, { why, until: now + heldMs, heldMs });
    const [oldest] = this.#all.keys();
    if (this.#all.size > KEPT_MAX && oldest !== undefined) this.#all.delete(oldest);
  }

  /** Why it, or the array that it is of, is not to be started now; null: it may be. */
  of(job: string, now: number): string | null {
    const array = elementOf(job)?.array ?? null;
    return this.#why(keyOf(job), now) ?? (array === null ? null : this.#why(keyOf(array), now));
  }

  /** A listed job as it is for the plan. */
  seen(job: SiteJob, now: number): SiteJob {
    if (job.state !== 'waiting') return job;
    const why = this.of(job.id, now) ?? this.#ofOnlyElement(job, now);
    if (why === null) return job;
    return { ...job, state: 'held', reason: `${why}; tried again later`, isHeldByUs: true };
  }

  /** An element that was noted by itself may be listed as all that is left of its array. */
  #ofOnlyElement({ id, elements }: SiteJob, now: number): string | null {
    return /^\d+$/.test(elements ?? '') ? this.#why(`${id} ${Number(elements)}`, now) : null;
  }

  #why(key: string, now: number): string | null {
    const one = this.#all.get(key);
    return one === undefined || now >= one.until ? null : one.why;
  }
}

/** Key of a job; an element has the same, however its site writes it. */
function keyOf(job: string): string {
  const element = elementOf(job);
  return element === null ? job : `${element.array} ${element.index}`;
}
