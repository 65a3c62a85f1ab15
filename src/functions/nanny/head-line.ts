// The line of a worker to the head: dialled again whenever it is gone, its messages as frames.

import type { RouterToWorker, WorkerToRouter } from '../../core/calls/messages.ts';
import type { Peer } from '../../core/calls/peer.ts';
import type { WorkerSession } from '../../core/calls/worker/worker-session.ts';
import type { CallLine, DialCalls } from '../../ports/call-line.ts';
import {
  FrameWriter,
  ROUTER_TO_WORKER,
  readFrame,
  WORKER_TO_ROUTER,
} from '../../wire/call-frames.ts';

export interface HeadLinePorts {
  readonly dial: DialCalls;
  readonly tell: (line: string) => void;
  readonly now: () => number;
}

/** The first pause before dialling again; each is twice the last. */
const RETRY_MS = 50;
const RETRY_MS_MAX = 2000;
/** From here on, what may be left out (progress) is. */
const BEHIND_BYTES = 4 * 1_048_576;

export class HeadLine {
  readonly #mind: WorkerSession;
  readonly #ports: HeadLinePorts;
  #line: CallLine | null = null;
  #retryMs = RETRY_MS;
  #toldWhy = '';
  #isClosing = false;
  #closed = Promise.withResolvers<void>();

  constructor(mind: WorkerSession, ports: HeadLinePorts) {
    this.#mind = mind;
    this.#ports = ports;
    void this.#dial();
  }

  /** When what was sent is out, or after so long. */
  async close(waitMs: number): Promise<void> {
    this.#isClosing = true;
    if (this.#line === null) return;
    // What was said in this turn is on its way to the line.
    await new Promise((resolve) => setImmediate(resolve));
    this.#line?.close();
    const timer = setTimeout(() => this.#closed.resolve(), waitMs);
    await this.#closed.promise;
    clearTimeout(timer);
  }

  async #dial(): Promise<void> {
    try {
      const line = await this.#ports.dial();
      if (this.#isClosing) return line.close();
      this.#open(line);
    } catch (error) {
      this.#again(error instanceof Error ? error.message : String(error));
    }
  }

  /** The same reason is told once: a head may be away for minutes. */
  #again(why: string): void {
    if (this.#isClosing) return;
    if (why !== this.#toldWhy) this.#ports.tell(`no line to the head: ${why}; trying again`);
    this.#toldWhy = why;
    setTimeout(() => void this.#dial(), this.#retryMs);
    this.#retryMs = Math.min(RETRY_MS_MAX, 2 * this.#retryMs);
  }

  #open(line: CallLine): void {
    const { now } = this.#ports;
    this.#line = line;
    const peer = peerOf(line);
    const door = this.#mind.open(peer, now());
    line.onFrame((frame) => {
      this.#retryMs = RETRY_MS;
      this.#toldWhy = '';
      const messages = readFrame<RouterToWorker>(ROUTER_TO_WORKER, frame);
      if (messages.ok) return door.take(messages.value, now());
      this.#ports.tell(`the head sent what cannot be read: ${messages.error}`);
      line.close();
    });
    line.onClose((why) => {
      door.gone();
      this.#line = null;
      this.#closed.resolve();
      this.#again(why);
    });
  }
}

/** Messages of one turn of the event loop go out as one frame. */
function peerOf(line: CallLine): Peer<WorkerToRouter> {
  const writer = new FrameWriter<WorkerToRouter>(WORKER_TO_ROUTER);
  let isPending = false;
  const flush = (): void => {
    isPending = false;
    if (writer.bytes > 0) line.send(writer.take());
  };
  return {
    send: (message) => {
      writer.add(message);
      if (writer.isFull) return flush();
      if (isPending) return;
      isPending = true;
      process.nextTick(flush);
    },
    close: () => {
      flush();
      line.close();
    },
    get isBehind() {
      return line.bufferedBytes > BEHIND_BYTES;
    },
  };
}
