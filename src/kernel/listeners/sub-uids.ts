// Users of this machine by uid. A user whom /etc/subuid gives uids of its own may start processes
// under each of thousands: they count as one, so that nobody has thousands of shares.

import { readFileSync } from 'node:fs';

const FILE = '/etc/subuid';
/** The file is an administrator's, and changes with accounts. */
const KEPT_MS = 60_000;

interface Range {
  readonly owner: string;
  readonly from: number;
  readonly until: number;
}

/** Ranges of a text like /etc/subuid; lines that are none are passed over. */
export function readSubUids(text: string): Range[] {
  return text.split('\n').flatMap((line) => {
    const [, owner = '', first, count] = /^([^:#]+):(\d+):(\d+)\s*$/.exec(line) ?? [];
    if (owner === '') return [];
    return [{ owner, from: Number(first), until: Number(first) + Number(count) }];
  });
}

let known: readonly Range[] = [];
let readAt = Number.NEGATIVE_INFINITY;

/** Like `1000`, or `uids of alice`; the same for all that one user can have. */
export function ownerOf(uid: number, ranges: readonly Range[] = rangesNow()): string {
  const range = ranges.find(({ from, until }) => uid >= from && uid < until);
  return range === undefined ? String(uid) : `uids of ${range.owner}`;
}

function rangesNow(): readonly Range[] {
  if (performance.now() - readAt < KEPT_MS) return known;
  readAt = performance.now();
  try {
    known = readSubUids(readFileSync(FILE, 'utf8'));
  } catch {
    known = []; // Without the file nobody has any.
  }
  return known;
}
