// One WebSocket of a client or a worker: frames in, in slices, to the router; its messages out, one
// frame a slice. Whoever does not read what it is sent is not read either, and cut off at a bound.

import type { WebSocket } from 'ws';
import { Fifo } from '../../core/calls/fifo.ts';
import type { Peer } from '../../core/calls/peer.ts';
import type { Port } from '../../core/calls/router/router.ts';
import type { Clock } from '../../ports/clock.ts';
import { FrameWriter, type Layout, readFrame } from '../../wire/call-frames.ts';
import type { Slices, Worked } from './slices.ts';

/** Not read while so much waits for it: whatever it asks for would wait, too. */
const BEHIND_BYTES = 4 * 1_048_576;
/** What may be left out, is left out from here on. */
const LATE_BYTES = 1_048_576;
/** Far beyond what the windows of calls let gather: it is gone, or means harm. */
const BUFFERED_BYTES_MAX = 64 * 1_048_576;
/** Frames that wait for their slice. */
const INBOX_BYTES_MAX = 1_048_576;

interface Message {
  readonly kind: string;
}

export interface Speech<In extends Message, Out extends Message> {
  readonly reads: Layout<In>;
  readonly writes: Layout<Out>;
}

export interface LineWorld {
  readonly slices: Slices;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class Line<In extends Message, Out extends Message> implements Peer<Out>, Worked {
  readonly #socket: WebSocket;
  readonly #reads: Layout<In>;
  readonly #writer: FrameWriter<Out>;
  readonly #world: LineWorld;
  readonly #inbox = new Fifo<Uint8Array>();
  #inboxBytes = 0;
  #isPaused = false;
  #isOpen = true;
  #port: Port<In> | null = null;

  constructor(socket: WebSocket, speech: Speech<In, Out>, world: LineWorld) {
    this.#socket = socket;
    this.#reads = speech.reads;
    this.#writer = new FrameWriter(speech.writes);
    this.#world = world;
  }

  /** From now on what comes goes there. */
  open(port: Port<In>, whenGone: () => void): void {
    this.#port = port;
    const socket = this.#socket;
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      // An empty one is no frame, and is refused as such.
      this.#arrived(isBinary ? data : new Uint8Array());
    });
    // `close` follows, and says all that matters here.
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.#isOpen = false;
      port.gone(this.#world.clock.monotonic());
      whenGone();
    });
  }

  get isBehind(): boolean {
    return this.#socket.bufferedAmount + this.#writer.bytes > LATE_BYTES;
  }

  send(message: Out): void {
    if (!this.#isOpen) return;
    if (this.#writer.bytes === 0) this.#world.slices.hasUnsent(this);
    this.#writer.add(message);
    if (this.#writer.isFull) this.flush();
  }

  close(): void {
    this.flush();
    this.#isOpen = false;
    this.#resume();
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close(1000);
  }

  flush(): void {
    const socket = this.#socket;
    if (!this.#isOpen || this.#writer.bytes === 0) return;
    if (socket.readyState !== socket.OPEN) return;
    socket.send(this.#writer.take(), { binary: true }, () => this.#balance());
    if (socket.bufferedAmount > BUFFERED_BYTES_MAX) return socket.terminate();
    this.#balance();
  }

  work(): boolean {
    const frame = this.#inbox.shift();
    if (frame === undefined) return false;
    this.#inboxBytes -= frame.length;
    this.#balance();
    if (!this.#isOpen) return this.#inbox.length > 0;
    const now = this.#world.clock.monotonic();
    const read = readFrame(this.#reads, frame);
    if (read.ok) this.#port?.take(read.value, now);
    else this.#port?.refuse(read.error, now);
    return this.#inbox.length > 0;
  }

  #arrived(frame: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#inbox.push(frame);
    this.#inboxBytes += frame.length;
    if (this.#inbox.length === 1) this.#world.slices.hasWork(this);
    this.#balance();
  }

  #balance(): void {
    const isFull = this.#inboxBytes > INBOX_BYTES_MAX;
    const isLate = this.#socket.bufferedAmount > BEHIND_BYTES;
    if (!isFull && !isLate) return this.#resume();
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }
}
