// The line of a program to one pool: the session of its calls over a WebSocket that is dialed again
// after every break, for as long as there is patience.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { HeadSocket } from '../../../kernel/connect/head-socket.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import { type ClientEvents, ClientSession } from '../core/client-session.ts';
import type { ClientToRouter, RouterToClient } from '../core/messages.ts';
import type { Peer } from '../core/peer.ts';
import { NearMemory } from '../functions/near-memory.ts';
import { CLIENT_TO_ROUTER, ROUTER_TO_CLIENT } from '../wire/call-frames.ts';
import { CallStream, readArrived } from '../wire/call-stream.ts';

/** How a pool is dialed, once per call. Throws a failure. */
export type DialPool = (headers: Readonly<Record<string, string>>) => Promise<HeadSocket>;

export interface PoolLineOptions {
  readonly dial: DialPool;
  /** Running calls go on when this program is gone. */
  readonly detach: boolean;
  /** How long the head may be away before what is open is given up. */
  readonly patienceMs: number;
}

type Socket = CallStream<RouterToClient, ClientToRouter>;

const SPEECH = { reads: ROUTER_TO_CLIENT, writes: CLIENT_TO_ROUTER, isClient: true };
const FIRST_PAUSE_MS = 50;
const PAUSE_MAX_MS = 2000;
const TICK_MS = 1000;
/** Beyond it what can be left out is. */
const BUFFERED_BYTES_MAX = 4 * 1_048_576;

export class PoolLine {
  readonly session: ClientSession;
  readonly #options: PoolLineOptions;
  readonly #near = new NearMemory();
  readonly #ticking: NodeJS.Timeout;
  #socket: Socket | null = null;
  #pause: NodeJS.Timeout | null = null;
  #isOver = false;

  private constructor(options: PoolLineOptions, events: ClientEvents) {
    this.#options = options;
    const label = `${process.argv[1] ?? 'node'} ${hostname()} ${process.pid}`.slice(-200);
    const session = randomBytes(16).toString('hex');
    const closed = (detail: string): void => {
      this.#end();
      events.closed(detail);
    };
    this.session = new ClientSession(
      { session, detach: options.detach, label, near: this.#near },
      { ...events, closed },
    );
    this.#ticking = setInterval(() => this.session.tick(performance.now()), TICK_MS).unref();
  }

  /** Resolves once the line stands; throws a failure when the head refuses it, or is not there. */
  static async open(options: PoolLineOptions, events: ClientEvents): Promise<PoolLine> {
    const line = new PoolLine(options, events);
    try {
      await line.#dial();
      return line;
    } catch (error) {
      line.#end();
      throw error;
    }
  }

  /** A call is open: what dials for it keeps the program alive, also when it began without one. */
  noteCall(): void {
    this.#pause?.ref();
  }

  /** Says goodbye: what is open ends as cancelled. */
  close(): void {
    this.session.close();
    this.#end();
  }

  /** The pool is over: what is open ends with it. */
  stopped(detail: string): void {
    this.session.giveUp(detail, 'pool_closed');
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#ticking);
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#socket?.close();
    this.#socket = null;
  }

  async #dial(): Promise<void> {
    const opened = await this.#options.dial(this.#near.headers);
    if (this.#isOver) return void opened.stream.destroy();
    const socket: Socket = new CallStream(opened, SPEECH, {
      arrived: (what) => {
        const messages = readArrived(ROUTER_TO_CLIENT, what);
        if (messages.ok) port.take(messages.value, performance.now());
        else socket.close();
      },
      broken: () => undefined, // It is closed, which is told.
      gone: () => {
        port.gone();
        if (this.#socket !== socket) return;
        this.#socket = null;
        if (!this.#isOver) void this.#again();
      },
    });
    this.#socket = socket;
    const port = this.session.open(new SocketPeer(socket), performance.now());
  }

  /** Until it stands again, the head says that there is no such pool, or patience is at its end. */
  async #again(): Promise<void> {
    const lostAt = performance.now();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
      await this.#sleep(pauseMs);
      if (this.#isOver) return;
      try {
        return await this.#dial();
      } catch (error) {
        const awayMs = performance.now() - lostAt;
        if (isPassing(error) && awayMs + pauseMs <= this.#options.patienceMs) continue;
        if (isPoolOver(error)) return this.stopped(words(error));
        this.session.giveUp(
          `The head was away for ${Math.round(awayMs / 1000)} s: ${words(error)}`,
        );
        return this.#end();
      }
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      // What waits for calls keeps the program alive meanwhile.
      this.#pause = setTimeout(resolve, ms);
      if (this.session.openCalls === 0) this.#pause.unref();
    });
  }
}

/** After a restart of the head all its clients come back in one moment: it may hear too much. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  return error.kind === 'unavailable' || error.code === 'rate.exceeded';
}

/** True for a pool that was stopped while this program had no line to it. */
function isPoolOver(error: unknown): boolean {
  return error instanceof Failure && error.code === 'pool.not_found';
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Gathers the messages of a turn of the event loop into one frame. */
class SocketPeer implements Peer<ClientToRouter> {
  readonly #socket: Socket;
  #isDue = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get isBehind(): boolean {
    return this.#socket.waitingBytes > BUFFERED_BYTES_MAX;
  }

  send(message: ClientToRouter): void {
    this.#socket.send(message);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#socket.flush();
    });
  }

  close(): void {
    this.#socket.close();
  }
}
