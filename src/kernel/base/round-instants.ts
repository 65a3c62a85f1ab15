// Round instants for the axis of a picture over time.

const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((s) => s * 1000),
  ...[1, 2, 5, 10, 15, 30].map((m) => m * 60_000),
  ...[1, 2, 3, 6, 12].map((h) => h * 3_600_000),
  ...[1, 2, 7, 14, 30, 90].map((d) => d * 86_400_000),
];

/** At most `max` of them. `zoneMs`: of the reader's zone to UTC. */
export function roundInstants(
  { from, until }: { readonly from: number; readonly until: number },
  max: number,
  zoneMs: number,
): number[] {
  const step = STEPS_MS.find((ms) => (until - from) / ms <= max) ?? (until - from) / max;
  const first = Math.ceil((from + zoneMs) / step) * step - zoneMs;
  const all: number[] = [];
  for (let at = first; at <= until; at += step) all.push(at);
  return all;
}
