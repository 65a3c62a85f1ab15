// What time it is for the head, as a client knows it: ages are counted by the clock that gave the
// instants. One program speaks with one head.

/** `Date` tells whole seconds, and an answer takes a while: closer clocks are taken for one. */
const SAME_MS = 2000;

let aheadMs = 0;

/** From the header `Date` of an answer just come; absent or no date: nothing is learned. */
export function noteHeadDate(date: string | null | undefined, receivedAt: number): void {
  const told = date == null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(told)) return;
  const ms = told + 500 - receivedAt;
  aheadMs = Math.abs(ms) <= SAME_MS ? 0 : ms;
}

/** Ms since 1970 by the head's clock; by ours as long as it has not answered. */
export function headNow(): number {
  return Date.now() + aheadMs;
}
