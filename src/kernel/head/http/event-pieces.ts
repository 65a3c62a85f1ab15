// Records as server-sent events, for readers with one view of them: whole, or only which jobs have
// changed.

import type { UserActor } from '../../model/actor.ts';
import type { JobId } from '../../model/ids.ts';
import { type EventFilter, type EventRing, type RingEvent, visibleEvents } from './event-ring.ts';

/** Length of a piece: a reader that is far behind gets several. */
const PIECE_LENGTH_MAX = 262_144;

/** A view of the events: readers with a view of the same name are sent the same. */
export interface View {
  readonly name: string;
  readonly actor: UserActor;
  readonly filter: EventFilter;
}

export function viewOf(actor: UserActor, filter: EventFilter): View {
  const { role } = actor;
  // Operators see all jobs, whoever they are.
  const who = role === 'user' ? actor.name : '';
  return { name: JSON.stringify([role, who, filter.kind, filter.job]), actor, filter };
}

/** Records in a row, as server-sent events. */
export interface Piece {
  /** Null when none of them is for this reader. */
  readonly bytes: Buffer | null;
  /** The last record looked at, and the last one with something in `bytes`. */
  readonly sent: number;
  readonly announced: number;
}

/** How a feed tells of events. */
export interface Telling {
  /** The first event is told at once, what comes within so long of it together. */
  readonly beatMs: number;
  /** Events after a record. Null: that record has left memory. */
  readonly pieceAfter: (ring: EventRing, from: number, view: View) => Piece | null;
}

/** A message for each record, with all that is public of its events. */
export const WHOLE: Telling = { beatMs: 50, pieceAfter: wholePiece };

/** One message for all records of a piece. Pages ask again four times a second at most anyway. */
export const BRIEF: Telling = { beatMs: 250, pieceAfter: briefPiece };

function wholePiece(ring: EventRing, from: number, { actor, filter }: View): Piece | null {
  const texts: string[] = [];
  let length = 0;
  let sent = from;
  let announced = from;
  while (sent < ring.newest && length < PIECE_LENGTH_MAX) {
    const record = ring.get(sent + 1);
    if (record === undefined) return null;
    sent += 1;
    const events = visibleEvents(record, actor, filter).map(({ text }) => text);
    if (events.length === 0) continue;
    announced = record.seq;
    const text = messageOf(record, events);
    texts.push(text);
    length += text.length;
  }
  return { bytes: texts.length === 0 ? null : Buffer.from(texts.join('')), sent, announced };
}

/** Events of one kind and job within a beat are one with a count, however many there are. */
function briefPiece(ring: EventRing, from: number, { actor, filter }: View): Piece | null {
  const told = new Alike();
  let last = { seq: from, at: 0 };
  let sent = from;
  while (sent < ring.newest && told.length < PIECE_LENGTH_MAX) {
    const record = ring.get(sent + 1);
    if (record === undefined) return null;
    sent += 1;
    for (const event of visibleEvents(record, actor, filter)) {
      told.add(event);
      last = record;
    }
  }
  const events = told.texts();
  if (events.length === 0) return { bytes: null, sent, announced: from };
  return { bytes: Buffer.from(messageOf(last, events)), sent, announced: last.seq };
}

interface Counted {
  /** All but the last brace. */
  readonly begin: string;
  count: number;
}

/** Events, those that are alike as one, in the order of the first of each. */
class Alike {
  /** By job, then by kind: to write each event's text first would take five times as long. */
  readonly #known = new Map<JobId | null, Map<string, Counted>>();
  readonly #all: Counted[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add({ kind, jobId, text }: RingEvent): void {
    const ofJob = this.#known.get(jobId) ?? new Map<string, Counted>();
    // What is about no job is rare, and has its fields.
    const what = jobId === null ? text : kind;
    const known = ofJob.get(what);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const begin = jobId === null ? text.slice(0, -1) : `{"kind":"${kind}","jobId":${jobId}`;
    const first = { begin, count: 1 };
    this.#known.set(jobId, ofJob.set(what, first));
    this.#all.push(first);
    this.#length += begin.length;
  }

  texts(): string[] {
    return this.#all.map(({ begin, count }) =>
      count === 1 ? `${begin}}` : `${begin},"count":${count}}`,
    );
  }
}

function messageOf({ seq, at }: { seq: number; at: number }, events: readonly string[]): string {
  return `id: ${seq}\ndata: {"seq":${seq},"at":${at},"events":[${events.join()}]}\n\n`;
}
