// What is said of a task that fits, were it not for what is set aside: whose it is, and until when.

import { formatDuration } from '../../base/duration.ts';
import type { NodeName } from '../../model/ids.ts';
import type { PendingReason } from '../../model/job.ts';
import type { Reservation } from '../../model/reservation.ts';
import { type Ask, endAt, wantOf } from '../room/ask.ts';
import { Board, type BoardOptions } from '../room/board.ts';
import type { Window } from '../room/lane.ts';
import type { Said } from './say-of-nodes.ts';

type Named = Pick<Reservation, 'name' | 'purpose'> | undefined;

/** Null: nothing that is set aside is in its way, or more than that. `board`: made of `options`. */
export function describeWindows(
  ask: Ask,
  options: BoardOptions,
  reservationOf: (id: string) => Named,
  board = new Board(options),
): PendingReason | null {
  if (ask.reservation !== null) return describeOwn(ask, options, reservationOf(ask.reservation));
  const { now } = options;
  const bare = new Board({ ...options, windows: [] });
  const free = bare.fitting(ask, Number.MAX_SAFE_INTEGER);
  const { nodeCount } = ask.request;
  if (free.length < nodeCount) return null;
  const meetings = free
    .map(({ name }) => meetingOn(name, ask, board))
    .sort((a, b) => (b?.window.from ?? Infinity) - (a?.window.from ?? Infinity));
  // The nodes with the longest time before them: the last that is needed decides.
  const meeting = meetings[nodeCount - 1] ?? null;
  if (meeting === null || meeting.window.from >= endAt(now, ask.walltimeMs)) return null;
  return describeMeeting(meeting, ask, now, reservationOf(meeting.window.id));
}

/** A node where the task would fit, and the window that first leaves it too little there. */
interface Meeting {
  readonly node: NodeName;
  readonly window: Window;
}

function meetingOn(node: NodeName, ask: Ask, board: Board): Meeting | null {
  const window = windowInTheWay(node, ask, board);
  return window === null ? null : { node, window };
}

/** The window that first leaves too little of the node; null: none ever does. */
export function windowInTheWay(
  node: NodeName,
  { request }: Pick<Ask, 'request'>,
  board: Board,
): Window | null {
  const windows = board.windowsOn(node);
  if (windows.length === 0) return null;
  const lane = board.lane(node);
  const want = wantOf(request);
  const until = lane.fitsUntil(want, null, board.now);
  const then = windows.filter(({ from, to }) => from <= until && until < to);
  // Of several that come the one that comes last makes it too little; of those that have begun the
  // one is waited for with whose end it is enough again.
  const last = then.toSorted((a, b) => b.from - a.from)[0] ?? null;
  if (until > board.now) return last;
  const enoughAt = lane.earliest(want, null, until, 1);
  return then.find(({ to }) => to === enoughAt) ?? last;
}

function describeMeeting(
  { node, window }: Meeting,
  { walltimeMs }: Ask,
  now: number,
  named: Named,
): PendingReason {
  const kind = kindOf(named);
  const what = `${titleOf(window, named)} on ${node}`;
  if (window.from <= now) {
    return { kind, words: `waits for ${what} to end in ${spanOf(window.to - now)}` };
  }
  const limit = walltimeMs === null ? 'it has no time limit and' : 'it';
  const left = spanOf(window.from - now);
  return { kind, words: `${limit} could run into ${what}, which starts in ${left}` };
}

/** What is set aside of a free node, and when. */
export function describeSetAside(window: Window, now: number, named: Named): Said {
  const title = titleOf(window, named);
  if (window.from > now) {
    const when = `${title} in ${spanOf(window.from - now)}`;
    return { one: `has ${when}`, many: `have ${when}` };
  }
  const until = `in ${title} for ${spanOf(window.to - now)} more`;
  return { one: `is ${until}`, many: `are ${until}` };
}

function kindOf(named: Named): 'maintenance' | 'reservation' {
  return named?.purpose === 'maintenance' ? 'maintenance' : 'reservation';
}

function titleOf({ id }: Window, named: Named): string {
  return `${kindOf(named)} ${named?.name ?? id}`;
}

/** Why a task waits that may run in one reservation only. */
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
      words: `reservation ${name} starts in ${spanOf(next.from - now)}`,
    };
  }
  if (endAt(now, walltimeMs) <= next.to) return null;
  const limit =
    walltimeMs === null
      ? 'the job has no time limit'
      : `the time limit of the job is ${formatDuration(walltimeMs)}`;
  const left = spanOf(next.to - now);
  return { kind: 'reservation', words: `reservation ${name} ends in ${left}; ${limit}` };
}

/** Whole seconds, never none. */
function spanOf(ms: number): string {
  return formatDuration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}
