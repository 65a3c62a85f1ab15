// A worker: the line to the head, a child that runs functions, and between them the worker's mind
// (core/calls/worker). It never runs code of users, and so knows how their processes end.

import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerPort } from '../../core/calls/worker/entries.ts';
import { WorkerSession } from '../../core/calls/worker/worker-session.ts';
import type { DialCalls } from '../../ports/call-line.ts';
import { Child } from './child-process.ts';
import { HeadLine } from './head-line.ts';
import { SECRET_VARIABLE, type WorkerSettings } from './settings.ts';

export interface NannyPorts {
  readonly dial: DialCalls;
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

export class Nanny {
  readonly #settings: WorkerSettings;
  readonly #ports: NannyPorts;
  readonly #scratch = mkdtempSync(join(tmpdir(), 'weft-worker-'));
  readonly #mind: WorkerSession;
  readonly #line: HeadLine;
  #child: Child | null = null;
  #timer: NodeJS.Timeout | null = null;
  #tickMs = IDLE_TICK_MS;
  /** Calls with the child. */
  #runs = 0;
  #isOver = false;

  constructor(settings: WorkerSettings, ports: NannyPorts) {
    this.#settings = settings;
    this.#ports = ports;
    const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'hex');
    this.#mind = new WorkerSession({ worker: settings.worker, sha256 }, this.#port(), now());
    this.#line = new HeadLine(this.#mind, { dial: ports.dial, tell: ports.tell, now });
    this.#tickIn(IDLE_TICK_MS);
  }

  get childPid(): number | undefined {
    return this.#child?.pid;
  }

  /** At once: the task is being ended. */
  async stop(code: number): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#child?.kill();
    await this.#line.close(LEAVE_MS);
    rmSync(this.#scratch, { recursive: true, force: true });
    this.#ports.exit(code);
  }

  #port(): WorkerPort {
    return {
      startChild: () => this.#startChild(),
      killChild: () => this.#child?.kill(),
      load: (sha256, bytes) => {
        this.#child?.load(sha256, bytes);
        if ((this.#child?.loadedBytes ?? 0) > LOADED_BYTES_MAX)
          queueMicrotask(() => this.#mind.retireChild());
      },
      run: (call) => {
        this.#runs += 1;
        this.#child?.run(call);
        if (this.#tickMs === IDLE_TICK_MS) this.#tickIn(BUSY_TICK_MS);
      },
      takeBack: (runs) => this.#child?.takeBack(runs),
      abort: (run) => this.#child?.abort(run),
      exit: (code, detail) => {
        this.#ports.tell(detail);
        void this.stop(code);
      },
    };
  }

  #startChild(): void {
    const { callsMax, bytesMax } = this.#settings;
    const { [SECRET_VARIABLE]: _, ...env } = this.#ports.env;
    const options = { scratch: this.#scratch, callsMax, bytesMax, env };
    this.#runs = 0;
    this.#child = new Child(
      { ...options, onStderr: this.#ports.onStderr },
      {
        ready: () => this.#mind.childReady(now()),
        starting: (run) => this.#mind.childStarting(run, now()),
        ended: (run, ok, bytes) => {
          this.#runs -= 1;
          this.#mind.childEnded({ run, ok, bytes }, now());
        },
        progress: (run, bytes) => this.#mind.childProgress(run, bytes),
        gaveBack: (runs) => {
          this.#runs -= runs.length;
          this.#mind.childGaveBack(runs, now());
        },
        worn: (why) => {
          this.#ports.tell(`a new process takes the place of this one: ${why}`);
          this.#mind.retireChild();
        },
        died: (detail) => {
          if (this.#isOver) return;
          this.#ports.tell(detail);
          this.#mind.childDied(detail, now());
        },
      },
    );
  }

  #tickIn(ms: number): void {
    if (this.#isOver) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#tickMs = ms;
    this.#timer = setTimeout(() => {
      this.#mind.tick(now());
      this.#tickIn(this.#runs > 0 ? BUSY_TICK_MS : IDLE_TICK_MS);
    }, ms);
  }
}

function now(): number {
  return performance.now();
}
