// The schedule as a picture, before it is drawn: which part of time, a row for each node, and lanes
// in it for what runs side by side.

import type { ScheduleBar } from '../../api/schedule.ts';

/** Part of time that is shown. */
export interface Sight {
  readonly from: number;
  readonly until: number;
}

/** One bar on one node. */
export interface Placed {
  readonly bar: ScheduleBar;
  readonly from: number;
  /** Beyond what is shown where the bar has no end. */
  readonly until: number;
}

export interface Row {
  readonly node: string;
  /** At least one; each by begin, without overlaps. */
  readonly lanes: readonly (readonly Placed[])[];
}

export interface Picture {
  readonly at: number;
  readonly sight: Sight;
  readonly rows: readonly Row[];
}

/** What is known ahead is shown so many times as far as what is past. */
const AHEAD_MAX = 3;
/** Without anything planned, now is not at the very edge. */
const AHEAD_MIN = 0.1;
const PAST_MIN_MS = 10_000;

/** The whole time asked for; of what was left open as much as says something. */
export function sightOf(
  bars: readonly ScheduleBar[],
  at: number,
  { since, until, sinceDefault }: { since?: number; until?: number; sinceDefault: number },
): Sight {
  const earliest = bars.reduce((least, bar) => Math.min(least, bar.from), at - PAST_MIN_MS);
  const from = since ?? Math.max(sinceDefault, earliest);
  const past = Math.max(PAST_MIN_MS, at - from);
  const known = bars.reduce((most, bar) => Math.max(most, bar.until ?? 0), 0);
  const ahead = Math.min(past * AHEAD_MAX, Math.max(past * AHEAD_MIN, known - at));
  return { from, until: until ?? Math.max(from + PAST_MIN_MS, at + ahead) };
}

const BY_NAME = new Intl.Collator('en', { numeric: true }).compare;

/** Rows for these nodes, by name; what is out of sight has no place in a lane. */
export function rowsOf(
  bars: readonly ScheduleBar[],
  nodes: readonly string[],
  { from, until }: Sight,
): Row[] {
  const rows = new Map<string, Placed[]>();
  for (const name of [...nodes].sort(BY_NAME)) rows.set(name, []);
  for (const bar of bars) {
    const end = Math.max(bar.from + 1, bar.until ?? until + 1);
    if (end <= from || bar.from >= until) continue;
    for (const name of bar.nodes) rows.get(name)?.push({ bar, from: bar.from, until: end });
  }
  return [...rows].map(([node, placed]) => ({ node, lanes: inLanes(placed) }));
}

function inLanes(placed: Placed[]): Placed[][] {
  placed.sort((one, other) => one.from - other.from || one.bar.jobId - other.bar.jobId);
  const { lanes, count } = lanesOf(placed);
  const all = Array.from({ length: Math.max(1, count) }, (): Placed[] => []);
  for (const [at, one] of placed.entries()) all[lanes[at] ?? 0]?.push(one);
  return all;
}

// Lanes for what lasts: things that overlap lie side by side, each in the first lane that is free.

interface Lasting {
  readonly from: number;
  readonly until: number;
}

/** The lane of each, from 0, in the order of the list, by begin; and how many there are. */
function lanesOf(list: readonly Lasting[]): { lanes: number[]; count: number } {
  const ends: number[] = [];
  const lanes = list.map(({ from, until }) => {
    const free = ends.findIndex((end) => end <= from);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = until;
    return lane;
  });
  return { lanes, count: ends.length };
}
