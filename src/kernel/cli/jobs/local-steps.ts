// Steps of time as a reader's clock and calendar have them, also where that clock is set.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Steps of one length, one after another. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly stepMs: number;
}

/** Stretches that together are the time from the begin of the step with `since` until `until`. */
export function localSteps(since: number, until: number, stepMs: number): Stretch[] {
  if (!followsTheClock(stepMs)) return [{ from: wholeBefore(since, stepMs), until, stepMs }];
  const stretches: { from: number; until: number; stepMs: number }[] = [];
  let [from, next] = stepWith(since, stepMs);
  for (;;) {
    const last = stretches.at(-1);
    if (last?.stepMs === next - from) last.until = next;
    else stretches.push({ from, until: next, stepMs: next - from });
    if (next >= until) break;
    [from, next] = [next, stepWith(next, stepMs)[1]];
  }
  const last = stretches.at(-1);
  if (last !== undefined) last.until = until;
  return stretches;
}

/** Days, and the longer parts of one: they are longer or shorter where a clock is set. */
function followsTheClock(stepMs: number): boolean {
  return stepMs % DAY_MS === 0 || (stepMs > HOUR_MS && DAY_MS % stepMs === 0);
}

/** Where the step with this instant begins, and where the next one does. */
function stepWith(at: number, stepMs: number): [number, number] {
  const day = new Date(at);
  const begin = (ms: number) => {
    const date = day.getDate() + Math.floor(ms / DAY_MS);
    return new Date(day.getFullYear(), day.getMonth(), date, 0, 0, 0, ms % DAY_MS).getTime();
  };
  let part = 0;
  while (begin((part + 1) * stepMs) <= at) part++;
  return [begin(part * stepMs), begin((part + 1) * stepMs)];
}

function wholeBefore(at: number, stepMs: number): number {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  const whole = Math.min(stepMs, DAY_MS);
  return Math.floor((at - offsetMs) / whole) * whole + offsetMs;
}
