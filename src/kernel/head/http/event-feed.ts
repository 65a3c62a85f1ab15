// What happens, for many who follow along: told in beats, and encoded once for all who see the
// same. What an event costs the head so grows neither with the readers nor with the pace of events.

import type { UserActor } from '../../model/actor.ts';
import type { Clock, Timer } from '../../ports/clock.ts';
import { type EventFilter, type EventRing, visibleEvents } from './event-ring.ts';

/** The first event is told at once, what comes within so long of it together. */
const BEAT_MS = 50;
/** Length of a piece: a reader that is far behind gets several. */
const PIECE_LENGTH_MAX = 262_144;
/** Pieces kept: of readers of a few kinds, each as far as the others. */
const PIECES_MAX = 64;

/** Records in a row, as server-sent events. */
interface Piece {
  /** Null when none of them is for this reader. */
  readonly bytes: Buffer | null;
  /** The last record looked at, and the last one with something in `bytes`. */
  readonly sent: number;
  readonly announced: number;
}

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

export class EventFeed {
  readonly #ring: EventRing;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #readers = new Set<() => void>();
  readonly #pieces = new Map<string, Piece>();
  #beat: Timer | null = null;
  #isBehind = false;
  #unsubscribe = (): void => {};

  constructor(ring: EventRing, clock: Pick<Clock, 'after'>) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** Calls `reader` when there is something new. Returns how to stop that. */
  onNews(reader: () => void): () => void {
    if (this.#readers.size === 0) this.#unsubscribe = this.#ring.onRecord(() => this.#news());
    this.#readers.add(reader);
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size > 0) return;
      this.#unsubscribe();
      this.#beat?.cancel();
      this.#beat = null;
      this.#pieces.clear();
    };
  }

  /** What comes after record `sent`. Null: that has left memory. */
  after(sent: number, view: View): Piece | null {
    const name = `${sent} ${this.#ring.newest} ${view.name}`;
    const known = this.#pieces.get(name);
    if (known !== undefined) return known;
    const piece = this.#encode(sent, view);
    if (piece !== null && this.#pieces.size < PIECES_MAX) this.#pieces.set(name, piece);
    return piece;
  }

  #news(): void {
    if (this.#beat !== null) {
      this.#isBehind = true;
      return;
    }
    this.#isBehind = false;
    this.#beat = this.#clock.after(BEAT_MS, () => {
      this.#beat = null;
      if (this.#isBehind) this.#news();
    });
    this.#pieces.clear();
    for (const reader of [...this.#readers]) reader();
  }

  #encode(from: number, { actor, filter }: View): Piece | null {
    const texts: string[] = [];
    let length = 0;
    let sent = from;
    let announced = from;
    while (sent < this.#ring.newest && length < PIECE_LENGTH_MAX) {
      const record = this.#ring.get(sent + 1);
      if (record === undefined) return null;
      sent += 1;
      const events = visibleEvents(record, actor, filter);
      if (events.length === 0) continue;
      const { seq, at } = record;
      announced = seq;
      const text = `id: ${seq}\ndata: {"seq":${seq},"at":${at},"events":[${events.join()}]}\n\n`;
      texts.push(text);
      length += text.length;
    }
    return { bytes: texts.length === 0 ? null : Buffer.from(texts.join('')), sent, announced };
  }
}
