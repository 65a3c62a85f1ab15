// A worker: the line to the head, children that run functions, and between them the worker's mind
// (core/calls/worker). It never runs code of users, and so knows how their processes end.

import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NearBytes, NearFiles } from '../../core/near.ts';
import type { ChildPort, WorkerPort } from '../../core/worker/entries.ts';
import { WorkerSession } from '../../core/worker/worker-session.ts';
import type { DialCalls } from '../../ports/call-line.ts';
import type { Processes } from '../../ports/processes.ts';
import { Child, type ChildMemory } from './child-process.ts';
import { HeadLine } from './head-line.ts';
import { childEnvironment, type WorkerSettings } from './settings.ts';

export interface SupervisorPorts {
  readonly dial: DialCalls;
  /** Absent: large values go over the line. */
  readonly near?: NearBytes & NearFiles & ChildMemory;
  /** Absent: what calls have started is left when their process ends. */
  readonly processes?: Processes;
  readonly env: NodeJS.ProcessEnv;
  readonly tell: (line: string) => void;
  readonly onStderr: (chunk: Uint8Array) => void;
  readonly exit: (code: number) => void;
}

/** While calls run; a time-out is met within that. */
const BUSY_TICK_MS = 20;
const IDLE_TICK_MS = 1000;
/** What a child was given and may hold; a new one begins with nothing. */
const LOADED_BYTES_MAX = 512 * 1_048_576;
/** A head that stands still does not keep a worker that leaves. */
const LEAVE_MS = 1000;
const NO_ROOMS =
  'no file for large results can be made in /dev/shm: until one can they go through a pipe, slower';
/** By SIGTERM. */
const ENDED = 143;

/** A child and the calls with it. */
interface Seat {
  readonly depth: number;
  child: Child | null;
  runs: number;
}

export class WorkerSupervisor {
  readonly #settings: WorkerSettings;
  readonly #ports: SupervisorPorts;
  readonly #scratch = mkdtempSync(join(tmpdir(), 'weft-worker-'));
  readonly #mind: WorkerSession;
  readonly #line: HeadLine;
  readonly #seats: Seat[] = [];
  #timer: NodeJS.Timeout | null = null;
  #tickMs = IDLE_TICK_MS;
  #hasToldOfRooms = false;
  /** `stopping`: the task is being ended, and the router hears what goes back. */
  #state: 'works' | 'stopping' | 'leaving' = 'works';
  /** When the router knows what goes back, or there is none. */
  readonly #left = Promise.withResolvers<void>();

  constructor(settings: WorkerSettings, ports: SupervisorPorts) {
    this.#settings = settings;
    this.#ports = ports;
    const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'hex');
    const { near } = ports;
    const options = { worker: settings.worker, sha256, ...(near && { near, nearFiles: near }) };
    this.#mind = new WorkerSession(options, this.#port(), now());
    this.#line = new HeadLine(this.#mind, { dial: ports.dial, tell: ports.tell, now });
    this.#tickIn(IDLE_TICK_MS);
  }

  get childPid(): number | undefined {
    return this.#seats[0]?.child?.pid;
  }

  /** The task is being ended. Calls that have not started go on elsewhere. */
  async stop(): Promise<void> {
    if (this.#state !== 'works') return;
    this.#state = 'stopping';
    const timer = setTimeout(() => this.#left.resolve(), LEAVE_MS);
    this.#haltIfAlone();
    for (const { child } of this.#seats) child?.kill();
    await this.#left.promise;
    clearTimeout(timer);
    await this.#leave(ENDED);
  }

  /** What a child had started is known when it is gone. */
  #haltIfAlone(): void {
    if (this.#state !== 'stopping' || this.#seats.some(({ child }) => child !== null)) return;
    this.#mind.halt(ENDED, now());
  }

  async #leave(code: number): Promise<void> {
    if (this.#state === 'leaving') return;
    this.#state = 'leaving';
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { child } of this.#seats) child?.kill();
    await this.#line.close(LEAVE_MS);
    rmSync(this.#scratch, { recursive: true, force: true });
    this.#ports.exit(code);
  }

  #port(): WorkerPort {
    return {
      ...this.#childPort(0),
      seat: (depth) => this.#childPort(depth),
      exit: (code, detail) => {
        if (this.#state !== 'works') return this.#left.resolve();
        this.#ports.tell(detail);
        void this.#leave(code);
      },
    };
  }

  /** The child for calls of this depth: 0 is the worker's own. */
  #childPort(depth: number): ChildPort {
    const seat: Seat = { depth, child: null, runs: 0 };
    this.#seats.push(seat);
    return {
      startChild: () => this.#startChild(seat),
      killChild: () => seat.child?.kill(),
      load: (sha256, bytes) => {
        seat.child?.load(sha256, bytes);
        if ((seat.child?.loadedBytes ?? 0) > LOADED_BYTES_MAX)
          queueMicrotask(() => this.#mind.retireChild(depth));
      },
      run: (call) => {
        seat.runs += 1;
        seat.child?.run(call);
        if (this.#tickMs === IDLE_TICK_MS) this.#tickIn(BUSY_TICK_MS);
      },
      takeBack: (runs) => seat.child?.takeBack(runs),
      abort: (run) => seat.child?.abort(run),
    };
  }

  #startChild(seat: Seat): void {
    const { depth } = seat;
    const { callsMax, bytesMax, python } = this.#settings;
    const env = childEnvironment(this.#settings, this.#ports.env, depth);
    const { near, processes } = this.#ports;
    const options = {
      scratch: this.#scratch,
      callsMax,
      bytesMax,
      env,
      python,
      processes,
      ...(near && { near }),
    };
    seat.runs = 0;
    seat.child = new Child(
      { ...options, onStderr: this.#ports.onStderr },
      {
        ready: () => this.#mind.childReady(now(), depth),
        starting: (run) => this.#mind.childStarting(run, now(), depth),
        ended: (run, ok, bytes) => {
          seat.runs -= 1;
          this.#mind.childEnded({ run, ok, bytes }, now(), depth);
        },
        progress: (run, bytes) => this.#mind.childProgress(run, bytes, depth),
        gaveBack: (runs) => {
          seat.runs -= runs.length;
          this.#mind.childGaveBack(runs, now(), depth);
        },
        withoutRooms: () => this.#tellOfRooms(),
        worn: (why) => {
          this.#ports.tell(`a new process takes the place of this one: ${why}`);
          this.#mind.retireChild(depth);
        },
        died: (detail) => {
          seat.runs = 0;
          seat.child = null;
          if (this.#state !== 'works') return this.#haltIfAlone();
          // One for inner calls that has nothing to do is ended by this worker.
          if (depth === 0) this.#ports.tell(detail);
          this.#mind.childDied(detail, now(), depth);
        },
      },
    );
  }

  /** Says once for all processes of this worker that there are no rooms. */
  #tellOfRooms(): void {
    if (this.#hasToldOfRooms) return;
    this.#hasToldOfRooms = true;
    this.#ports.tell(NO_ROOMS);
  }

  #tickIn(ms: number): void {
    if (this.#state === 'leaving') return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#tickMs = ms;
    this.#timer = setTimeout(() => {
      this.#mind.tick(now());
      this.#tickIn(this.#seats.some(({ runs }) => runs > 0) ? BUSY_TICK_MS : IDLE_TICK_MS);
    }, ms);
  }
}

function now(): number {
  return performance.now();
}
