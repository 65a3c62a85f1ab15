// What is said of a task that fits, were it not for what is set aside: whose it is, and until when.

import type { NodeName } from '../../model/ids.ts';
import type { NodeSituation, WindowReason } from '../../model/reason.ts';
import { type Ask, endAt, wantOf } from '../room/ask.ts';
import { Board, type BoardOptions } from '../room/board.ts';
import type { Window } from '../room/lane.ts';

type Named = Pick<Window, 'name' | 'purpose'> | undefined;

/** Null when nothing set aside is in its way, or more than that. `board`: made of `options`. */
export function windowReason(
  ask: Ask,
  options: BoardOptions,
  reservationOf: (id: string) => Named,
  board = new Board(options),
): WindowReason | null {
  const { reservation } = ask;
  if (reservation !== null) return ownReason(reservation, ask, options, reservationOf(reservation));
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
  // That node is not one of those that it could have, and is named as such.
  if (meeting?.window.purpose === 'external') return null;
  if (meeting === null || meeting.window.from >= endAt(now, ask.walltimeMs)) return null;
  return meetingReason(meeting, ask, now, reservationOf(meeting.window.id));
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

function meetingReason(
  { node, window }: Meeting,
  { walltimeMs }: Ask,
  now: number,
  named: Named,
): WindowReason {
  const title = titleOf(window, named);
  if (window.from <= now) {
    return { ...title, problem: 'begun', node, endsInMs: window.to - now };
  }
  const hasLimit = walltimeMs !== null;
  return { ...title, problem: 'would_run_into', node, startsInMs: window.from - now, hasLimit };
}

/** What is set aside of a free node, and when. */
export function setAside(window: Window, now: number, named: Named): NodeSituation {
  const { kind: purpose, name } = titleOf(window, named);
  const startsInMs = window.from > now ? window.from - now : null;
  return { kind: 'set_aside', purpose, name, startsInMs, endsInMs: window.to - now };
}

function titleOf({ id }: Pick<Window, 'id'>, named: Named): Pick<WindowReason, 'kind' | 'name'> {
  const purpose = named?.purpose;
  const kind = purpose === 'maintenance' || purpose === 'node_end' ? purpose : 'reservation';
  return { kind, name: named?.name ?? id };
}

/** Why a task waits that may run in one reservation only. */
function ownReason(
  reservation: string,
  { walltimeMs }: Ask,
  { windows, now }: BoardOptions,
  named: Named,
): WindowReason | null {
  const title = { kind: 'reservation', name: named?.name ?? reservation } as const;
  const mine = windows.filter((window) => window.id === reservation && window.to > now);
  const next = mine.toSorted((a, b) => a.from - b.from)[0];
  if (next === undefined) return { ...title, problem: 'over' };
  if (next.from > now) return { ...title, problem: 'not_begun', startsInMs: next.from - now };
  if (endAt(now, walltimeMs) <= next.to) return null;
  return { ...title, problem: 'too_short', endsInMs: next.to - now, walltimeMs };
}
