// The line of a worker to the head: dialled again whenever it is gone, its messages as frames.

import type { RouterToWorker, WorkerToRouter } from '../../core/messages.ts';
import type { Peer } from '../../core/peer.ts';
import type { WorkerSession } from '../../core/worker/worker-session.ts';
import type { CallLine, DialCalls } from '../../ports/call-line.ts';
import { ROUTER_TO_WORKER, WORKER_TO_ROUTER } from '../../wire/call-frames.ts';
import { CallStream, readArrived } from '../../wire/call-stream.ts';

export interface HeadLinePorts {
  readonly dial: DialCalls;
  readonly tell: (line: string) => void;
  readonly now: () => number;
}

type HeadStream = CallStream<RouterToWorker, WorkerToRouter>;

const SPEECH = { reads: ROUTER_TO_WORKER, writes: WORKER_TO_ROUTER, isClient: true };
/** The first pause before dialling again; each is twice the last. */
const RETRY_MS = 50;
const RETRY_MS_MAX = 2000;
/** From here on, what may be left out (progress) is. */
const BEHIND_BYTES = 4 * 1_048_576;

export class HeadLine {
  readonly #mind: WorkerSession;
  readonly #ports: HeadLinePorts;
  #line: HeadStream | null = null;
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
      const opened = await this.#ports.dial();
      if (this.#isClosing) return void opened.stream.destroy();
      this.#open(opened);
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

  #open(opened: CallLine): void {
    const { now, tell } = this.#ports;
    const line: HeadStream = new CallStream(opened, SPEECH, {
      arrived: (what) => {
        this.#retryMs = RETRY_MS;
        this.#toldWhy = '';
        const messages = readArrived(ROUTER_TO_WORKER, what);
        if (messages.ok) return door.take(messages.value, now());
        tell(`the head sent what cannot be read: ${messages.error}`);
        line.close();
      },
      broken: (detail) => tell(`the head sent what cannot be read: ${detail}`),
      gone: (why) => {
        door.gone();
        this.#line = null;
        this.#closed.resolve();
        this.#again(why);
      },
    });
    this.#line = line;
    const door = this.#mind.open(peerOf(line), now());
  }
}

/** Messages of one turn of the event loop go out as one frame. */
function peerOf(line: HeadStream): Peer<WorkerToRouter> {
  let isPending = false;
  const flush = (): void => {
    isPending = false;
    line.flush();
  };
  return {
    send: (message) => {
      line.send(message);
      if (isPending) return;
      isPending = true;
      setImmediate(flush);
    },
    close: () => line.close(),
    get isBehind() {
      return line.waitingBytes > BEHIND_BYTES;
    },
  };
}
