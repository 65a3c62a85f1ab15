// What a child tells its supervisor. Ends of small calls wait for each other for a moment, and are
// written down meanwhile (slate.ts).

import { FrameBatch, type FrameHead } from './frames.ts';
import { SlateWriter } from './slate.ts';

export interface ResultPorts {
  /** All of it is with the kernel when it returns, and survives this process. */
  readonly send: (parts: Uint8Array[]) => void;
  /** The same, into the slate. */
  readonly note: (bytes: Uint8Array, at: number) => void;
}

/** A call that is about to begin. */
export interface Beginning {
  readonly run: number;
  readonly asset: number;
  /** When it begins. */
  readonly at: number;
}

/** Ends that wait: half of what a child is given at a time, so that it is never idle. */
const WAITING_MAX = 8;
/** How long they wait while others run. */
const WAIT_MS = 1;
/** Behind a call that took longer none waits: the next of its function may take as long. */
const SHORT_MS = 0.25;

export class Results {
  readonly #ports: ResultPorts;
  readonly #batch = new FrameBatch();
  readonly #slate: SlateWriter;
  #waiting = 0;
  /** When the first of those that wait began. */
  #since = 0;
  /** Whether the slate has, or gets, all that waits. */
  #isWhole = true;
  #asset = 0;
  #beganAt = 0;

  constructor(ports: ResultPorts) {
    this.#ports = ports;
    this.#slate = new SlateWriter(ports.note);
  }

  /** Goes with the next flush, before another call begins. */
  add(head: FrameHead, ...bodies: readonly Uint8Array[]): void {
    this.#batch.add(head, ...bodies);
    this.#isWhole = false;
  }

  /** The end of a call, which may wait for others. */
  addEnd(head: FrameHead, ...bodies: readonly Uint8Array[]): void {
    this.#batch.add(head, ...bodies);
    this.#waiting += 1;
    if (this.#isWhole) this.#isWhole = this.#slate.add(head, ...bodies);
  }

  /** When it returns it is known for certain that the call has begun, and what was before it. */
  begin({ run, asset, at }: Beginning): void {
    if (!this.#mayWait(asset, at)) this.flush();
    if (this.#waiting === 0) this.#since = at;
    this.#asset = asset;
    this.#beganAt = at;
    this.#slate.begin(run, at);
  }

  /** The next call is as short as the last one was, as far as anybody can tell. */
  #mayWait(asset: number, at: number): boolean {
    const isShort = asset === this.#asset && at - this.#beganAt < SHORT_MS;
    return isShort && this.#isWhole && this.#waiting < WAITING_MAX && at - this.#since < WAIT_MS;
  }

  flush(): void {
    if (this.#batch.isEmpty) return;
    this.#ports.send(this.#batch.take());
    this.#slate.clear();
    this.#waiting = 0;
    this.#isWhole = true;
  }
}
