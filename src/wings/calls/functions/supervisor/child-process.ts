// The child of a supervisor: a process that runs functions, its pipes, and what is known of its
// end.

import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CALL_BYTES_MAX, CALL_INLINE_BYTES_MAX } from '../../../../kernel/model/limits.ts';
import { passed } from '../../../../kernel/wire/short-lived.ts';
import type { PassedValue } from '../../core/near.ts';
import type { Processes } from '../../ports/processes.ts';
import {
  type Frame,
  FrameBatch,
  FrameReader,
  numbersOf,
  orderHead,
  placeOf,
  readPlace,
  TO_CHILD,
  TO_SUPERVISOR,
  unknownToSupervisor,
} from '../child/frames.ts';
import type { RunnerOptions } from '../child/runner.ts';
import { CALL_VARIABLE, RESULTS_FD } from '../child/stdio.ts';
import type { Room } from '../near-memory.ts';
import { releaseHere } from '../release.ts';
import { wordsOfEnd } from './end-words.ts';
import { countOomKills } from './oom-kills.ts';
import { startProcess } from './start-process.ts';
import { StartedBy } from './started-by.ts';
import { Tail } from './tail.ts';

export interface ChildOptions extends RunnerOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The interpreter of a child for Python; undefined: it is Node. */
  readonly python?: string | undefined;
  /** For Node itself, before the program. */
  readonly nodeOptions?: readonly string[];
  /** What the child writes on its standard error. */
  readonly onStderr: (chunk: Uint8Array) => void;
  /** Absent: what calls have started is left. */
  readonly processes?: Processes | undefined;
  /** Absent: large values go through the pipes. */
  readonly near?: ChildMemory;
}

/** Memory that supervisor and child share. */
export interface ChildMemory {
  readonly host: string | null;
  room(): Room | null;
}

export interface ChildEvents {
  ready(): void;
  starting(run: number): void;
  ended(run: number, ok: boolean, bytes: PassedValue): void;
  progress(run: number, bytes: Uint8Array): void;
  gaveBack(runs: readonly number[]): void;
  /** No room could be made, told once: large results go through the pipe until one can. */
  withoutRooms(): void;
  /** The child starts no more calls, and wants to be replaced. */
  worn(why: string): void;
  /** The last event: all that it had written has been heard. */
  died(detail: string): void;
}

/** A call for the child. */
export interface ChildOrder {
  readonly run: number;
  /** Number of the call within its session. */
  readonly call: number;
  readonly attempt: number;
  /** SHA-256 of the function, and of shared values: loaded before. */
  readonly code: string;
  readonly shared: readonly string[];
  readonly payload: PassedValue;
}

/** Read before anything can change it. */
const OWN_RELEASE = releaseHere();
/** Large results that a child may write before the first of them has been taken. */
const ROOMS = 4;
/** How much longer than its process the pipe of a child's results may last, held by others. */
const DRAIN_MS = 1000;

export class Child {
  readonly #events: ChildEvents;
  /** Null when it could not be started. */
  readonly #process: ChildProcess | null;
  readonly #calls: Writable | null;
  readonly #batch = new FrameBatch();
  readonly #assets = new Map<string, number>();
  readonly #tail = new Tail();
  readonly #oomKills = countOomKills();
  readonly #startedBy: StartedBy | undefined;
  readonly #near: ChildMemory | undefined;
  readonly #rooms = new Map<string, Room>();
  /** Release of the files from which the child starts. */
  readonly #release = releaseHere();
  #isNear = false;
  #hasToldOfRooms = false;
  #isFlushPending = false;
  #exitCode: number | null = null;
  #fault: string | null = null;
  #isKilled = false;
  #isOver = false;
  #loadedBytes = 0;

  constructor(options: ChildOptions, events: ChildEvents) {
    this.#events = events;
    const { cwd, processes } = options;
    if (processes !== undefined)
      this.#startedBy = new StartedBy(processes, options.env['WEFT_LAUNCH']);
    const env = { ...options.env, [CALL_VARIABLE]: this.#startedBy?.mark };
    this.#near = options.near;
    const started = startProcess(commandOf(options), { env, ...(cwd !== undefined && { cwd }) });
    if (started instanceof Error) {
      this.#process = null;
      this.#calls = null;
      this.#fault = `It cannot be started: ${started.message}`;
      process.nextTick(() => this.#end());
      return;
    }
    const { stderr, calls, results } = started;
    this.#process = started.process;
    this.#calls = calls;
    // A child that has died takes no calls; its end is told by `exit`.
    this.#calls.on('error', () => undefined);
    stderr.on('data', (chunk: Buffer) => {
      this.#tail.add(chunk);
      options.onStderr(chunk);
    });
    this.#listen(started.process, results);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Bytes of code and shared values that it was given. */
  get loadedBytes(): number {
    return this.#loadedBytes;
  }

  load(sha256: string, bytes: Uint8Array): void {
    const number = this.#assets.size + 1;
    this.#assets.set(sha256, number);
    this.#loadedBytes += bytes.length;
    this.#send(TO_CHILD.asset, number, Buffer.from(sha256, 'hex'), bytes);
  }

  run({ run, call, attempt, code, shared, payload }: ChildOrder): void {
    const order = {
      call,
      attempt,
      asset: this.#assets.get(code) ?? 0,
      shared: shared.map((one) => this.#assets.get(one) ?? 0),
    };
    const head = orderHead(order);
    this.#startedBy?.given(run);
    if (payload instanceof Uint8Array) this.#send(TO_CHILD.call, run, head, payload);
    else if (this.#isNear) this.#send(TO_CHILD.callNear, run, head, placeOf(payload));
    else this.#send(TO_CHILD.call, run, head, payload.bytes());
  }

  takeBack(runs: readonly number[]): void {
    this.#send(TO_CHILD.withdraw, 0, numbersOf(runs));
  }

  abort(run: number): void {
    this.#send(TO_CHILD.cancel, run);
  }

  kill(): void {
    this.#isKilled = true;
    this.#kill();
  }

  #kill(): void {
    if (this.#process?.pid === undefined || this.#isOver) return;
    this.#startedBy?.stop(this.#process.pid);
    this.#process.kill('SIGKILL');
  }

  /** Frames of one turn of the event loop go out together. */
  #send(kind: number, a: number, ...bodies: readonly Uint8Array[]): void {
    this.#batch.add({ kind, a }, ...bodies);
    if (this.#isFlushPending) return;
    this.#isFlushPending = true;
    process.nextTick(() => {
      this.#isFlushPending = false;
      const calls = this.#calls;
      calls?.cork();
      for (const part of this.#batch.take()) calls?.write(part);
      calls?.uncork();
    });
  }

  #listen(own: ChildProcess, results: Readable): void {
    const reader = new FrameReader(CALL_BYTES_MAX, (frame) => this.#take(frame));
    results.on('data', (chunk: Buffer) => {
      passed(chunk.length);
      if (this.#fault !== null) return;
      try {
        reader.feed(chunk);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.#spoil(error.message);
      }
    });
    let left = 2;
    const done = (): void => {
      left -= 1;
      if (left === 0) this.#end();
    };
    results.once('close', done);
    results.on('error', () => undefined); // `close` follows.
    own.once('exit', () => {
      done();
      setTimeout(() => results.destroy(), DRAIN_MS).unref();
    });
    // No process came to be: out of memory, or of processes.
    own.once('error', (error) => {
      this.#fault ??= faultOf(error);
      if (own.pid === undefined) this.#end();
    });
  }

  #take({ kind, a, bytes }: Frame): void {
    const events = this.#events;
    if (kind === TO_SUPERVISOR.result) this.#endPiped(a, bytes);
    else if (kind === TO_SUPERVISOR.thrown) this.#over(a, false, bytes);
    else if (kind === TO_SUPERVISOR.starting) {
      this.#startedBy?.starting(a);
      this.#tail.mark();
      events.starting(a);
    } else if (kind === TO_SUPERVISOR.progress) events.progress(a, bytes);
    else if (kind === TO_SUPERVISOR.withdrawn) {
      this.#startedBy?.over(a);
      events.gaveBack([a]);
    } else if (kind === TO_SUPERVISOR.ready) this.#ready(bytes);
    else if (kind === TO_SUPERVISOR.resultNear) this.#endNear(a, bytes);
    else if (kind === TO_SUPERVISOR.exiting) this.#exitCode = a;
    else if (kind === TO_SUPERVISOR.worn) events.worn(bytes.toString());
    else this.#spoil(unknownToSupervisor(kind, this.#release, OWN_RELEASE));
  }

  #over(run: number, ok: boolean, value: PassedValue): void {
    this.#startedBy?.over(run);
    this.#events.ended(run, ok, value);
  }

  #ready(host: Buffer): void {
    this.#isNear = host.length > 0 && host.toString('latin1') === this.#near?.host;
    this.#giveRooms();
    this.#events.ready();
  }

  /** Rooms that are missing, until one cannot be made. */
  #giveRooms(): void {
    const missing = this.#isNear ? ROOMS - this.#rooms.size : 0;
    for (let count = 0; count < missing; count += 1) {
      const room = this.#near?.room() ?? null;
      if (room === null) return this.#tellOfRooms();
      this.#giveRoom(room);
    }
  }

  /** The file is this process's own: what is written there outlives the child. */
  #giveRoom(room: Room): void {
    this.#rooms.set(room.file, room);
    this.#send(TO_CHILD.room, 0, Buffer.from(room.file));
  }

  #tellOfRooms(): void {
    if (this.#hasToldOfRooms) return;
    this.#hasToldOfRooms = true;
    this.#events.withoutRooms();
  }

  /** A large result that found no room is when it pays to try again to make one. */
  #endPiped(run: number, bytes: Buffer): void {
    if (bytes.length > CALL_INLINE_BYTES_MAX) this.#giveRooms();
    this.#over(run, true, bytes);
  }

  #endNear(run: number, bytes: Buffer): void {
    const { file = '', length = 0 } = readPlace(bytes) ?? {};
    const value = this.#rooms.get(file)?.filled(length) ?? null;
    if (value === null) return this.#spoil(`a result that is not where it says`);
    this.#rooms.delete(file);
    this.#giveRooms();
    this.#over(run, true, value);
  }

  /** User code has written into the pipe: nothing that follows can be believed. */
  #spoil(what: string): void {
    this.#fault = `It wrote ${what} into file descriptor ${RESULTS_FD}, which is Weft's`;
    this.#kill();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const room of this.#rooms.values()) room.close();
    this.#calls?.destroy();
    this.#startedBy?.end();
    const { exitCode = null, signalCode = null } = this.#process ?? {};
    this.#events.died(
      this.#fault ??
        wordsOfEnd({
          exitCode,
          signal: signalCode,
          asked: this.#exitCode,
          isKilled: this.#isKilled,
          ...this.#tail.lines(),
          wasOomKilled: countOomKills() > this.#oomKills,
        }),
    );
  }
}

function commandOf({ python, nodeOptions = [], ...options }: ChildOptions): readonly string[] {
  const { scratch, callsMax, bytesMax } = options;
  const runner: RunnerOptions = { scratch, callsMax, bytesMax, release: OWN_RELEASE };
  const near = options.near?.host == null ? {} : { supervisor: process.pid };
  const own =
    python === undefined
      ? [process.execPath, ...nodeOptions, fileOfOurs('bin/weft-child.cjs')]
      : [python, fileOfOurs('python/src/weft/_worker.py')];
  return [...own, JSON.stringify({ ...runner, ...near })];
}

/**
 * By its place in this package. Ours for Node keeps what it compiled: half of the time of a start.
 */
function fileOfOurs(place: string): string {
  return fileURLToPath(new URL(`../../../../../${place}`, import.meta.url));
}

function faultOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `It cannot be started: there is no ${error.path} here`;
  return `It cannot be started: ${error.message}`;
}
