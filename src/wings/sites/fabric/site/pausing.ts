// Pauses between two tries at a site.

/** The longest of them. */
const PAUSE_MAX_MS = 60_000;

/** False for an end that is farther ahead than any pause is long: the clock was set back since. */
export function isPausing(until: number, now: number): boolean {
  return now < until && until - now <= PAUSE_MAX_MS;
}
