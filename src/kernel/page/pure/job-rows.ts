// The rows of a long list of jobs: pages put together, changed ones replaced, and sorted.
// Kept newest first.

import type { JobView, ListJobsReply } from '../../api/jobs.ts';
import type { Sorting } from './sorting.ts';
import { stateWord } from './state.ts';

/** Puts a page that was asked for with `before` (absent: the newest) in the place of its rows. */
export function putPage(
  rows: readonly JobView[],
  { jobs, next }: ListJobsReply,
  before: number | undefined,
): JobView[] {
  const from = before === undefined ? 0 : firstBelow(rows, before);
  // All rows down to where the page ends are what it says, or gone.
  const until = next === null ? rows.length : firstBelow(rows, next);
  return [...rows.slice(0, from), ...jobs, ...rows.slice(Math.max(from, until))];
}

/** Index of the first row whose id is smaller. */
function firstBelow(rows: readonly JobView[], id: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] as JobView).id < id) high = middle;
    else low = middle + 1;
  }
  return low;
}

export const SORT_KEYS = [
  ...(['id', 'name', 'owner', 'state', 'time', 'tasks', 'nodes', 'submitted'] as const),
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** The rows in this order. `now`: for the time of what runs. */
export function shownRows(
  rows: readonly JobView[],
  { key, down }: Sorting<SortKey>,
  now: number,
): readonly JobView[] {
  if (key === 'id' && down) return rows;
  const value = sortValue(key, now);
  const sign = down ? -1 : 1;
  return [...rows].sort(
    (one, other) => sign * compare(value(one), value(other)) || other.id - one.id,
  );
}

function sortValue(key: SortKey, now: number): (job: JobView) => number | string {
  switch (key) {
    case 'id':
      return ({ id }) => id;
    case 'name':
      return ({ name }) => name;
    case 'owner':
      return ({ owner }) => owner;
    case 'state':
      return stateWord;
    case 'time':
      return ({ runStartedAt, endedAt }) =>
        runStartedAt === null ? -1 : (endedAt ?? now) - runStartedAt;
    case 'tasks':
      return ({ taskCount }) => taskCount;
    case 'nodes':
      return ({ nodes }) => nodes.join();
    case 'submitted':
      return ({ submittedAt }) => submittedAt;
  }
}

function compare(one: number | string, other: number | string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Kept above and below what is in sight. */
const AROUND = 8;

/** Which rows are in the document: those in sight with some around them, always equally many. */
export function windowOf(
  count: number,
  { top, height, rowHeight }: { top: number; height: number; rowHeight: number },
): { readonly from: number; readonly until: number } {
  const size = Math.min(count, Math.ceil(height / rowHeight) + 1 + 2 * AROUND);
  const wanted = Math.floor(top / rowHeight) - AROUND;
  const from = Math.max(0, Math.min(count - size, wanted));
  return { from, until: from + size };
}

/**
 * A place for each row of a window: a row that stays keeps the one it has in `kept`, wherever it
 * stands now, and rows that come have those of rows that went.
 */
export function placesOf(
  kept: ReadonlyMap<number | string, number>,
  ids: readonly (number | string)[],
): readonly number[] {
  const taken = new Set<number>();
  const own = ids.map((id) => {
    const place = kept.get(id);
    if (place === undefined || taken.has(place)) return null;
    taken.add(place);
    return place;
  });
  const free = [...new Set(kept.values())].filter((place) => !taken.has(place));
  let fresh = Math.max(-1, ...kept.values()) + 1;
  return own.map((place) => place ?? free.shift() ?? fresh++);
}

/** The rows of a window in this order of places, where nothing has to move; null: their own. */
export function inPlaces(
  from: number,
  places: readonly number[],
  order: readonly number[] | null,
): readonly { readonly at: number; readonly place: number }[] {
  const all = places.map((place, row) => ({ at: from + row, place }));
  if (order === null) return all;
  const rank = new Map(order.map((place, at) => [place, at]));
  const rankOf = (place: number): number => rank.get(place) ?? order.length;
  return all.sort((one, other) => rankOf(one.place) - rankOf(other.place));
}
