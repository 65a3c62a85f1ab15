// A connection to the X server of a display of this machine, which is asked when somebody last
// typed.

import { existsSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import {
  type Cookie,
  encodeQueryExtension,
  encodeQueryInfo,
  encodeSetUp,
  type Message,
  Messages,
  readExtension,
  readIdleMs,
} from './x11.ts';

/** A server that does not answer hangs, or its session is stopped. */
const ANSWER_MS = 5000;
const SOCKETS = '/tmp/.X11-unix';

export interface XServer {
  /** Rejects with words when the server cannot say, or is gone. */
  idleMs(): Promise<number>;
  close(): void;
}

/** Rejects with words. */
export async function connectX(display: number, cookie: Cookie | null): Promise<XServer> {
  const line = new XConnection(await open(display));
  try {
    line.send(encodeSetUp(cookie));
    const welcome = await line.next();
    if (welcome.kind !== 'welcome') throw new Error(problemTextOf(welcome));
    line.send(encodeQueryExtension('MIT-SCREEN-SAVER'));
    const opcode = readExtension(replyIn(await line.next()));
    if (opcode === null) throw new Error('the X server has no MIT-SCREEN-SAVER extension');
    return {
      async idleMs() {
        line.send(encodeQueryInfo(opcode, welcome.root));
        return readIdleMs(replyIn(await line.next()));
      },
      close: () => line.close(),
    };
  } catch (error) {
    line.close();
    throw error;
  }
}

/** Servers listen at a path, or (Linux) at the same name without a file. */
function open(display: number): Promise<Socket> {
  const file = `${SOCKETS}/X${display}`;
  const socket = createConnection(existsSync(file) ? file : `\0${file}`);
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new Error(`no X server answers for :${display} (${code ?? 'error'})`)),
    );
  });
}

function replyIn(message: Message): Buffer {
  if (message.kind === 'reply') return message.bytes;
  throw new Error(problemTextOf(message));
}

function problemTextOf(message: Message): string {
  if (message.kind === 'refused') return `the X server refuses this user: ${message.why}`;
  if (message.kind === 'error') return `the X server answered with error ${message.code}`;
  return message.kind === 'broken' ? message.why : 'the X server answered out of turn';
}

/** One question at a time, and its answer. */
class XConnection {
  readonly #socket: Socket;
  readonly #messages = new Messages();
  readonly #come: Message[] = [];
  #wake: (() => void) | null = null;
  #over: string | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#come.push(...this.#messages.take(bytes));
      this.#wake?.();
    });
    const end = (): void => {
      this.#over ??= 'the X server has closed the connection';
      this.#wake?.();
    };
    socket.on('error', end).on('close', end);
  }

  send(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  async next(): Promise<Message> {
    const timer = setTimeout(() => {
      this.#over ??= `the X server did not answer for ${ANSWER_MS / 1000} s`;
      this.#wake?.();
    }, ANSWER_MS);
    try {
      for (;;) {
        const message = this.#come.shift();
        if (message !== undefined) return message;
        if (this.#over !== null) throw new Error(this.#over);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}
