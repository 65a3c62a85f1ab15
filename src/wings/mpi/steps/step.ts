// One step on the node where it runs: a command as a child of the server, joined to a connection.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import {
  type Frame,
  FrameReader,
  type Kind,
  type StepEnd,
  writeBytes,
  writeFrame,
} from './frames.ts';

/** Between TERM and KILL for a step whose client is gone. */
const GRACE_MS = 10_000;
const SIGNALS: readonly string[] = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'];

export class Step {
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  readonly #onEnd: () => void;
  #child: ChildProcess | null = null;
  #killer: NodeJS.Timeout | null = null;
  #isOver = false;

  /** Waits for the command on this connection. `onEnd` comes once, when nothing is left of it. */
  constructor(socket: Socket, onEnd: () => void) {
    this.#socket = socket;
    this.#onEnd = onEnd;
    socket.on('data', (bytes) => this.#read(bytes));
    // What follows from an error follows from the close after it.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#left());
  }

  /** TERM to the command, which belongs to a group of its own. */
  terminate(): void {
    if (this.#child === null) this.#socket.destroy();
    else this.#signal('SIGTERM');
  }

  #read(bytes: Buffer): void {
    let frames: Frame[];
    try {
      frames = this.#reader.take(bytes);
    } catch {
      this.#socket.destroy(); // Whoever holds the key but speaks another language is of no use.
      return;
    }
    for (const { kind, body } of frames) this.#take(kind, body);
  }

  #take(kind: Kind, body: Buffer): void {
    const child = this.#child;
    if (kind === 'start' && child === null) this.#start(body.toString());
    else if (kind === 'stdin') this.#feed(child, body);
    else if (kind === 'stdin_end') child?.stdin?.end();
    else if (kind === 'signal') this.#signal(body.toString());
  }

  #start(command: string): void {
    // A group of its own, so that a signal reaches all of it and nothing else.
    const child = spawn('/bin/sh', ['-c', command], { detached: true, stdio: 'pipe' });
    this.#child = child;
    // A program may close its input before all of it has come, as with any pipe.
    child.stdin.on('error', () => undefined);
    this.#forward(child.stdout, 'stdout');
    this.#forward(child.stderr, 'stderr');
    child.on('error', (error) => this.#end({ problem: error.message }));
    child.on('close', (code, signal) =>
      this.#end(signal === null ? { code: code ?? 0 } : { signal }),
    );
  }

  #feed(child: ChildProcess | null, body: Buffer): void {
    const { stdin } = child ?? {};
    if (stdin == null || !stdin.writable || stdin.write(body)) return;
    this.#socket.pause();
    const goOn = (): void => {
      stdin.off('drain', goOn);
      stdin.off('close', goOn);
      this.#socket.resume();
    };
    stdin.on('drain', goOn);
    stdin.on('close', goOn);
  }

  #forward(from: Readable, kind: 'stdout' | 'stderr'): void {
    from.on('data', (bytes: Buffer) => {
      if (this.#socket.destroyed || writeBytes(this.#socket, kind, bytes)) return;
      from.pause();
      this.#socket.once('drain', () => from.resume());
    });
  }

  #end(end: StepEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#killer !== null) clearTimeout(this.#killer);
    if (!this.#socket.destroyed) {
      writeFrame(this.#socket, 'end', JSON.stringify(end));
      this.#socket.end();
    }
    this.#onEnd();
  }

  /** The client is gone: nobody hears the command any more, so it ends too. */
  #left(): void {
    if (this.#isOver) return;
    const child = this.#child;
    if (child === null) return this.#end({ problem: 'nothing was asked for' });
    // Nothing may hold it up: its output is read and thrown away.
    for (const stream of [child.stdout, child.stderr]) stream?.resume();
    child.stdin?.destroy();
    this.#send('SIGTERM');
    this.#killer = setTimeout(() => {
      this.#send('SIGKILL');
      // What has left the group may keep these open.
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    }, GRACE_MS);
  }

  #signal(name: string): void {
    if (SIGNALS.includes(name)) this.#send(name as NodeJS.Signals);
  }

  #send(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // It was faster.
    }
  }
}
