// What is said of a task that fits, were it not for what is set aside: whose it is, and until when.

import { formatDuration } from '../base/duration.ts';
import type { NodeName } from '../model/ids.ts';
import type { PendingReason } from '../model/job.ts';
import type { Reservation } from '../model/reservation.ts';
import { type Ask, Board, type BoardOptions, endAt } from './board.ts';
import type { Window } from './lane.ts';

type Named = Pick<Reservation, 'name' | 'purpose'> | undefined;

/** Null: nothing that is set aside is in its way, or more than that. */
export function describeWindows(
  ask: Ask,
  options: BoardOptions,
  reservationOf: (id: string) => Named,
): PendingReason | null {
  if (ask.reservation !== null) return describeOwn(ask, options, reservationOf(ask.reservation));
  const bare = new Board({ ...options, windows: [] });
  const free = bare.fitting(ask, Number.MAX_SAFE_INTEGER).map(({ name }) => name);
  if (free.length < ask.request.nodeCount) return null;
  const { now } = options;
  const end = endAt(now, ask.walltimeMs);
  const inTheWay = options.windows.filter(
    (window) =>
      window.from < end && window.to > now && free.some((name) => window.shares.has(name)),
  );
  const first = inTheWay.toSorted((a, b) => a.from - b.from)[0];
  if (first === undefined) return null;
  const reservation = reservationOf(first.id);
  const kind = reservation?.purpose === 'maintenance' ? 'maintenance' : 'reservation';
  const what = `${kind} ${reservation?.name ?? first.id} of ${namesOf(first, free)}`;
  if (first.from <= now) {
    return { kind, words: `waits for the end of ${what} in ${spanOf(first.to - now)}` };
  }
  const limit = ask.walltimeMs === null ? 'without a time limit it' : 'it';
  return {
    kind,
    words: `${limit} could run into ${what}, which begins in ${spanOf(first.from - now)}`,
  };
}

/** Of a task that may run in one reservation only. */
function describeOwn(
  { reservation, walltimeMs }: Ask,
  { windows, now }: BoardOptions,
  named: Named,
): PendingReason | null {
  const name = named?.name ?? reservation;
  const mine = windows.filter((window) => window.id === reservation && window.to > now);
  const next = mine.toSorted((a, b) => a.from - b.from)[0];
  if (next === undefined) return { kind: 'reservation', words: `reservation ${name} is over` };
  if (next.from > now) {
    return {
      kind: 'reservation',
      words: `reservation ${name} begins in ${spanOf(next.from - now)}`,
    };
  }
  if (endAt(now, walltimeMs) <= next.to) return null;
  const limit =
    walltimeMs === null ? 'it has no time limit' : `its limit is ${formatDuration(walltimeMs)}`;
  const left = spanOf(next.to - now);
  return { kind: 'reservation', words: `reservation ${name} ends in ${left}, ${limit}` };
}

function namesOf({ shares }: Window, free: readonly NodeName[]): string {
  const names = free.filter((name) => shares.has(name));
  return names.length > 3 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ');
}

/** Whole seconds, never none. */
function spanOf(ms: number): string {
  return formatDuration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}
