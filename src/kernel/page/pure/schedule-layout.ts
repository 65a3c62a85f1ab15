// Where the bars of the schedule lie: a row for each node, as high as its cpus, in which each task
// takes as many of them as it has; and which bar is under a pointer.

import type { ScheduleBar } from '../../api/schedule.ts';

/** Parts that a row is cut into: a task of one cpu of a thousand is a line all the same. */
const SLOTS_MAX = 256;

/** Part of a row's height, from 0 to 1. */
export interface Piece {
  readonly top: number;
  readonly height: number;
}

/** One bar on one node. */
export interface Placed {
  readonly bar: ScheduleBar;
  readonly row: number;
  /** The task's cpus; several pieces where no gap is as high. */
  readonly pieces: readonly Piece[];
  readonly from: number;
  readonly until: number;
}

/** A node as far as it has a row. */
export interface RowOf {
  readonly name: string;
  readonly cpuCount: number;
}

export interface Layout {
  readonly nodes: readonly RowOf[];
  /** Bars of each row, by their starts. */
  readonly rows: readonly (readonly Placed[])[];
}

/** `horizon`: where bars without an end end. */
export function layOut(
  bars: readonly ScheduleBar[],
  nodes: readonly RowOf[],
  horizon: number,
): Layout {
  const rowOf = new Map(nodes.map(({ name }, row) => [name, row]));
  const rows: Lying[][] = nodes.map(() => []);
  for (const bar of bars) {
    const until = Math.max(bar.from + 1, bar.until ?? Math.max(horizon, bar.from + 60_000));
    for (const name of bar.nodes) {
      const row = rowOf.get(name);
      if (row !== undefined) rows[row]?.push({ bar, row, from: bar.from, until });
    }
  }
  return { nodes, rows: rows.map((lying, row) => placeAll(lying, nodes[row]?.cpuCount ?? 0)) };
}

type Lying = Omit<Placed, 'pieces'>;

/** Each takes the first gap that is high enough, else what is free here and there. */
function placeAll(lying: Lying[], cpuCount: number): Placed[] {
  lying.sort((one, other) => one.from - other.from || one.bar.jobId - other.bar.jobId);
  const slots = Math.min(SLOTS_MAX, Math.max(1, cpuCount));
  const ends = new Array<number>(slots).fill(Number.NEGATIVE_INFINITY);
  return lying.map((one) => {
    const cpus = one.bar.cpuCount ?? Math.max(1, cpuCount);
    const share = Math.min(1, cpus / Math.max(1, cpuCount));
    const wanted = Math.min(slots, Math.max(1, Math.round(share * slots)));
    const taken = takeSlots(ends, one.from, wanted);
    for (const slot of taken) ends[slot] = Math.max(ends[slot] ?? 0, one.until);
    return { ...one, pieces: piecesOf(taken, slots) };
  });
}

function takeSlots(ends: readonly number[], from: number, wanted: number): number[] {
  const free: number[] = [];
  let run = 0;
  for (let slot = 0; slot < ends.length; slot += 1) {
    if ((ends[slot] as number) > from) {
      run = 0;
      continue;
    }
    free.push(slot);
    run += 1;
    if (run === wanted) return free.slice(-wanted);
  }
  if (free.length > 0) return free.slice(0, wanted);
  // More than the node has, by what is told: over the others rather than nowhere.
  return Array.from({ length: wanted }, (_, at) => ends.length - wanted + at);
}

/** Neighbours are one piece. */
function piecesOf(taken: readonly number[], slots: number): Piece[] {
  const pieces: { top: number; height: number }[] = [];
  let before = -2;
  for (const slot of taken) {
    const last = pieces.at(-1);
    if (last !== undefined && slot === before + 1) last.height += 1 / slots;
    else pieces.push({ top: slot / slots, height: 1 / slots });
    before = slot;
  }
  return pieces;
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

/** The sight that an address says; null: none. */
export function sightOf(from: string, until: string): Sight | null {
  if (!/^\d{1,15}$/.test(from) || !/^\d{1,15}$/.test(until)) return null;
  const sight = { from: Number(from), until: Number(until) };
  const span = sight.until - sight.from;
  return span < SPAN_MIN_MS || span > SPAN_MAX_MS ? null : sight;
}

/** The bar at an instant in a row, at this share of its height; null: there is none. */
export function barAt(
  { rows }: Layout,
  row: number,
  at: { readonly time: number; readonly share: number },
): Placed | null {
  const hit = ({ from, until, pieces }: Placed): boolean =>
    from <= at.time &&
    at.time < until &&
    pieces.some(({ top, height }) => top <= at.share && at.share < top + height);
  return rows[row]?.findLast(hit) ?? null;
}

const ROW_MIN = 18;
/** A task of one cpu with its name; and no row is higher than a page. */
const NAMED_HEIGHT = 15;
const ROW_MAX = 640;

/** Height of all rows: what fits, or so high that names of tasks with one cpu can be read. */
export function rowHeightOf(nodes: readonly RowOf[], room: number, isTall: boolean): number {
  const cpus = nodes.reduce((most, { cpuCount }) => Math.max(most, cpuCount), 1);
  if (isTall) return Math.min(ROW_MAX, Math.max(ROW_MIN, cpus * NAMED_HEIGHT + 3));
  const most = Math.max(40, Math.min(120, cpus * (NAMED_HEIGHT + 3)));
  return Math.max(ROW_MIN, Math.min(most, Math.floor(room / Math.max(1, nodes.length))));
}

/** The first of these texts that fits; the last one cut short, with `…`; null: not even that. */
export function fitting(
  texts: readonly string[],
  room: number,
  widthOf: (text: string) => number,
): string | null {
  for (const text of texts) if (text !== '' && widthOf(text) <= room) return text;
  const last = texts.at(-1) ?? '';
  for (let length = last.length - 1; length >= 3; length -= 1) {
    const cut = `${last.slice(0, length)}…`;
    if (widthOf(cut) <= room) return cut;
  }
  return null;
}
