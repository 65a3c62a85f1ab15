// A line between two programs: frames arrive whole, in order, after a while, or not at all. Each
// side notices the end of the line by itself, and perhaps much later than the other.

import type { Peer } from '../../src/wings/calls/core/peer.ts';
import { FrameWriter, type Layout, readFrame } from '../../src/wings/calls/wire/call-frames.ts';
import type { Dice } from '../chance.ts';
import type { Time } from '../clock.ts';
import { Violation } from '../violation.ts';

interface Message {
  readonly kind: string;
}

/** One side of a line, as the program there feeds its machine. */
export interface Side<M> {
  take(messages: readonly M[]): void;
  gone(): void;
}

export interface LineWorld {
  readonly time: Time;
  readonly dice: Dice;
  readonly delayMaxMs: number;
}

/** One direction. */
class Way<M extends Message> implements Peer<M> {
  readonly #world: LineWorld;
  readonly #layout: Layout<M>;
  readonly #writer: FrameWriter<M>;
  #lastAt = 0;
  #isPlanned = false;
  /** What is sent goes nowhere. */
  isCut = false;
  /** The receiver does not listen any more. */
  isDeaf = false;
  isBehind = false;
  to: Side<M> | null = null;
  onClose: () => void = () => undefined;

  constructor(world: LineWorld, layout: Layout<M>) {
    this.#world = world;
    this.#layout = layout;
    this.#writer = new FrameWriter(layout);
  }

  send(message: M): void {
    this.#writer.add(message);
    if (this.#writer.isFull) this.#flush();
    else if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#world.time.after(0, () => {
        this.#isPlanned = false;
        this.#flush();
      });
    }
  }

  close(): void {
    this.#flush();
    this.onClose();
  }

  /** Nothing arrives before this. */
  stall(untilAt: number): void {
    this.#lastAt = Math.max(this.#lastAt, untilAt);
  }

  #flush(): void {
    if (this.#writer.bytes === 0) return;
    const frame = this.#writer.take();
    const { time, dice, delayMaxMs } = this.#world;
    this.#lastAt = Math.max(this.#lastAt, time.now + dice.fraction() * delayMaxMs);
    const wasCut = this.isCut;
    time.after(this.#lastAt - time.now, () => {
      if (!wasCut && !this.isCut && !this.isDeaf) this.#deliver(frame);
    });
  }

  #deliver(frame: Uint8Array): void {
    const read = readFrame(this.#layout, frame);
    if (!read.ok) throw new Violation('crash', `a frame does not decode: ${read.error}`);
    this.to?.take(read.value);
  }
}

/** Between a program `A`, which dialed, and the head. */
export class SimulatedLine<A extends Message, H extends Message> {
  readonly #world: LineWorld;
  readonly up: Way<A>;
  readonly down: Way<H>;
  /** The one that has dialed. */
  readonly owner: object;
  #isOver = false;

  constructor(
    world: LineWorld,
    layouts: { readonly up: Layout<A>; readonly down: Layout<H> },
    owner: object,
  ) {
    this.#world = world;
    this.owner = owner;
    this.up = new Way(world, layouts.up);
    this.down = new Way(world, layouts.down);
    // Whoever closes hears nothing more; the other hears what was sent, and then the end.
    this.up.onClose = () => this.#closedBy(this.down, this.up);
    this.down.onClose = () => this.#closedBy(this.up, this.down);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  #closedBy(own: Way<A> | Way<H>, other: Way<A> | Way<H>): void {
    own.isDeaf = true;
    const side = own.to;
    this.#world.time.after(0, () => side?.gone());
    this.#world.time.after(this.#world.delayMaxMs, () => {
      if (!this.#isOver) this.#noticed(other, 0);
    });
    this.#isOver = true;
  }

  /** The network lets nothing through any more; each side notices in its time. */
  cut(noticeMaxMs: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const way of [this.up, this.down]) {
      // A part of what is on its way may have arrived.
      if (this.#world.dice.happens(0.5)) way.isCut = true;
      else this.#world.time.after(this.#world.dice.fraction() * 5, () => (way.isCut = true));
      this.#noticed(way, this.#world.dice.fraction() * noticeMaxMs);
    }
  }

  #noticed(way: Way<A> | Way<H>, afterMs: number): void {
    this.#world.time.after(afterMs, () => {
      way.isDeaf = true;
      way.to?.gone();
    });
  }

  stall(ms: number): void {
    const until = this.#world.time.now + ms;
    this.#world.dice.pick([this.up, this.down]).stall(until);
  }
}
