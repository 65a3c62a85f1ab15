// The server of steps: the process that a task with `--mpi` has on every node but its first. Its
// children are processes of the task there, with its group, its limits and its end.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { createServer, type TlsOptions } from 'node:tls';
import { type Bounds, Newcomers } from '../../../kernel/listeners/newcomers.ts';
import type { Allocation } from './allocation.ts';
import {
  type Frame,
  FrameReader,
  type Kind,
  type StepEnd,
  writeBytes,
  writeFrame,
} from './frames.ts';
import { identityOf, keyOf, portsOf, TLS_OPTIONS } from './secrecy.ts';

/** More than one program starts on one node at a time. */
const STEPS_MAX = 1024;
/** A connection that shows no key is closed after this. */
const HANDSHAKE_MS = 10_000;
/** Those without the key must not use up the steps of those with it. */
const BOUNDS: Bounds = { perAddress: 256, total: STEPS_MAX, local: 0, graceMs: 500 };

export interface StepServer {
  readonly port: number;
  /** Takes no more steps, ends those that run, and resolves when they have ended. */
  stop(): Promise<void>;
}

/** Listens where the task's other processes look for it. Rejects when no port is free. */
export async function serveSteps(allocation: Allocation): Promise<StepServer> {
  const { self } = allocation;
  const identity = identityOf(allocation, self);
  const key = keyOf(allocation, self);
  const steps = new Set<Step>();
  const options: TlsOptions = {
    ...TLS_OPTIONS,
    handshakeTimeout: HANDSHAKE_MS,
    pskCallback: (_socket, named) => (named === identity ? key : null),
  };
  let whenIdle: (() => void) | null = null;
  const newcomers = new Newcomers(() => performance.now(), BOUNDS);
  const server = createServer(options, (socket) => {
    newcomers.proven(socket);
    if (steps.size >= STEPS_MAX) return void socket.destroy();
    const step: Step = new Step(socket, () => {
      steps.delete(step);
      if (steps.size === 0) whenIdle?.();
    });
    steps.add(step);
  });
  server.on('connection', (socket: Socket) => newcomers.add(socket, false));
  const port = await listen(server, portsOf(allocation, self));
  return {
    port,
    stop: async () => {
      server.close();
      for (const step of steps) step.terminate();
      if (steps.size > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
    },
  };
}

type Server = ReturnType<typeof createServer>;

async function listen(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) if (await tryPort(server, port)) return port;
  throw new Error(`no port is free for the steps of this job; ${ports.join(', ')} are in use`);
}

/** False when somebody else has it. */
async function tryPort(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      server.off('listening', onListening);
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    const onListening = (): void => {
      server.off('error', onError);
      resolve(true);
    };
    server.once('error', onError);
    server.once('listening', onListening);
    server.listen(port);
  });
}

// One step on the node where it runs: a command as a child of the server, joined to a connection.

/** Between TERM and KILL for a step whose client is gone. */
const GRACE_MS = 10_000;
const SIGNALS: readonly string[] = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'];

class Step {
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
