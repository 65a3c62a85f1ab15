// Where the bars of the schedule lie: a row for each node, lanes in it for what runs side by side, and
// which bars are in sight.

import type { ScheduleBar } from '../../src/api/schedule.ts';
import { lanesOf } from '../../src/core/base/lanes.ts';

/** One bar on one node. */
export interface Placed {
  readonly bar: ScheduleBar;
  readonly row: number;
  /** From 0; of `lanes` in this row. */
  readonly lane: number;
  readonly from: number;
  readonly until: number;
}

export interface Layout {
  readonly nodes: readonly string[];
  /** Bars of each row, by their starts. */
  readonly rows: readonly (readonly Placed[])[];
  readonly lanes: readonly number[];
}

/** Where bars without an end end. */
export function layOut(
  bars: readonly ScheduleBar[],
  nodes: readonly string[],
  horizon: number,
): Layout {
  const rowOf = new Map(nodes.map((name, row) => [name, row]));
  const rows: { bar: ScheduleBar; from: number; until: number }[][] = nodes.map(() => []);
  for (const bar of bars) {
    const until = Math.max(bar.from + 1, bar.until ?? Math.max(horizon, bar.from + 60_000));
    for (const name of bar.nodes) {
      const row = rowOf.get(name);
      if (row !== undefined) rows[row]?.push({ bar, from: bar.from, until });
    }
  }
  const lanes: number[] = [];
  const placed = rows.map((some, row) => {
    some.sort((one, other) => one.from - other.from || one.bar.jobId - other.bar.jobId);
    const placed = lanesOf(some);
    lanes[row] = Math.max(1, placed.count);
    return some.map((one, at): Placed => ({ ...one, row, lane: placed.lanes[at] ?? 0 }));
  });
  return { nodes, rows: placed, lanes };
}

/** Part of time that is shown. */
export interface Sight {
  readonly from: number;
  readonly until: number;
}

const SPAN_MIN_MS = 10_000;
const SPAN_MAX_MS = 400 * 86_400_000;

/** Nearer (`by` < 1) or further, with the instant at `share` of the width staying where it is. */
export function zoom({ from, until }: Sight, by: number, share: number): Sight {
  const span = until - from;
  const next = Math.min(SPAN_MAX_MS, Math.max(SPAN_MIN_MS, span * by));
  const fixed = from + span * share;
  return { from: fixed - next * share, until: fixed + next * (1 - share) };
}

export function pan({ from, until }: Sight, share: number): Sight {
  const by = (until - from) * share;
  return { from: from + by, until: until + by };
}

/** The bar at an instant in a row, the lanes of which share its height; null: there is none. */
export function barAt(
  { rows, lanes }: Layout,
  row: number,
  at: { readonly time: number; readonly share: number },
): Placed | null {
  const lane = Math.floor(at.share * (lanes[row] ?? 1));
  const hit = (one: Placed): boolean =>
    one.lane === lane && one.from <= at.time && at.time < one.until;
  return rows[row]?.find(hit) ?? null;
}
