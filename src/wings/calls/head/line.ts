// One connection of a client or a worker: frames in, in slices, to the router; its messages out,
// one frame a slice. Whoever does not read what it is sent is not read either, and cut off at a
// bound.

import type { Clock } from '../../../kernel/ports/clock.ts';
import { Fifo } from '../core/fifo.ts';
import type { Peer } from '../core/peer.ts';
import type { Port } from '../core/router/router.ts';
import type { Message } from '../wire/call-frames.ts';
import {
  type Arrived,
  CallStream,
  type Opened,
  readArrived,
  type Speech,
} from '../wire/call-stream.ts';
import type { Slices, Worked } from './slices.ts';

/** Not read while so much waits for it: whatever it asks for would wait, too. */
const BEHIND_BYTES = 4 * 1_048_576;
/** What may be left out, is left out from here on. */
const LATE_BYTES = 1_048_576;
/** Far beyond what the windows of calls let gather: it is gone, or means harm. */
const BUFFERED_BYTES_MAX = 64 * 1_048_576;
/** What waits for its slice. */
const INBOX_BYTES_MAX = 1_048_576;

export interface LineWorld {
  readonly slices: Slices;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class RouterLine<In extends Message, Out extends Message> implements Peer<Out>, Worked {
  readonly #stream: CallStream<In, Out>;
  readonly #speech: Speech<In, Out>;
  readonly #world: LineWorld;
  readonly #inbox = new Fifo<Arrived>();
  #inboxBytes = 0;
  #isPaused = false;
  #port: Port<In> | null = null;
  #whenGone: () => void = () => undefined;

  constructor(opened: Opened, speech: Speech<In, Out>, world: LineWorld) {
    this.#speech = speech;
    this.#world = world;
    this.#stream = new CallStream<In, Out>(opened, speech, {
      arrived: (what) => this.#arrived(what),
      written: () => this.#balance(),
      broken: (detail) => this.#port?.refuse(detail, this.#now()),
      gone: () => {
        // Who says goodbye has said what came before it: ends of calls, for one.
        while (this.work());
        this.#port?.gone(this.#now());
        this.#whenGone();
      },
    });
  }

  /** From now on what comes goes there. */
  open(port: Port<In>, whenGone: () => void): void {
    this.#port = port;
    this.#whenGone = whenGone;
  }

  get isBehind(): boolean {
    return this.#stream.waitingBytes > LATE_BYTES;
  }

  send(message: Out): void {
    const stream = this.#stream;
    if (stream.unsentBytes === 0) this.#world.slices.hasUnsent(this);
    stream.send(message);
    if (stream.waitingBytes > BEHIND_BYTES) this.#balance();
  }

  close(): void {
    this.#stream.close();
    this.#resume();
  }

  /** The head is stopping, and will be back. */
  leave(): void {
    this.#stream.close('the head is stopping', 'goingAway');
  }

  flush(): void {
    const stream = this.#stream;
    if (!stream.isOpen || stream.unsentBytes === 0) return;
    stream.flush();
    this.#balance();
  }

  work(): boolean {
    const what = this.#inbox.shift();
    if (what === undefined) return false;
    this.#inboxBytes -= sizeOf(what);
    this.#balance();
    const read = readArrived(this.#speech.reads, what);
    if (read.ok) this.#port?.take(read.value, this.#now());
    else this.#port?.refuse(read.error, this.#now());
    return this.#inbox.length > 0;
  }

  #arrived(what: Arrived): void {
    this.#inbox.push(what);
    this.#inboxBytes += sizeOf(what);
    if (this.#inbox.length === 1) this.#world.slices.hasWork(this);
    this.#balance();
  }

  #balance(): void {
    const isFull = this.#inboxBytes > INBOX_BYTES_MAX;
    const { waitingBytes } = this.#stream;
    if (waitingBytes > BUFFERED_BYTES_MAX) return this.#stream.cut();
    const isLate = waitingBytes > BEHIND_BYTES;
    if (!isFull && !isLate) return this.#resume();
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#stream.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#stream.resume();
  }

  #now(): number {
    return this.#world.clock.monotonic();
  }
}

function sizeOf(what: Arrived): number {
  return 'kind' in what ? what.bytes.length : what.length;
}
