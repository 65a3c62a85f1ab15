// What happens, for many who follow along: told in beats, and encoded once for all who see the
// same. What an event costs the head so grows neither with the readers nor with the pace of events,
// but for what is compressed: that is done for each reader, beside the head's own thread.

import type { Clock, Timer } from '../../ports/clock.ts';
import type { Piece, Telling, View } from './event-pieces.ts';
import type { EventRing } from './event-ring.ts';

/** Pieces kept: of readers of a few kinds, each as far as the others. */
const PIECES_MAX = 64;

export class EventFeed {
  readonly #ring: EventRing;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #telling: Telling;
  readonly #readers = new Set<() => void>();
  readonly #pieces = new Map<string, Piece>();
  #beat: Timer | null = null;
  #isBehind = false;
  #unsubscribe = (): void => {};

  constructor(ring: EventRing, clock: Pick<Clock, 'after'>, telling: Telling) {
    this.#ring = ring;
    this.#clock = clock;
    this.#telling = telling;
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
    const piece = this.#telling.pieceAfter(this.#ring, sent, view);
    if (piece !== null && this.#pieces.size < PIECES_MAX) this.#pieces.set(name, piece);
    return piece;
  }

  #news(): void {
    if (this.#beat !== null) {
      this.#isBehind = true;
      return;
    }
    this.#isBehind = false;
    this.#beat = this.#clock.after(this.#telling.beatMs, () => {
      this.#beat = null;
      if (this.#isBehind) this.#news();
    });
    this.#pieces.clear();
    for (const reader of [...this.#readers]) reader();
  }
}
