// The calls of one pool: its router, which of its workers live, and how many it asks for.

import { createHash } from 'node:crypto';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import { formatEpochId, formatTaskId } from '../../../kernel/model/ids.ts';
import type { Outcome, OutcomeKind } from '../../../kernel/model/job.ts';
import { POOL_ABANDONED_MS } from '../../../kernel/model/limits.ts';
import type { Share } from '../../../kernel/model/orders.ts';
import type { WorkerToRouter } from '../core/messages.ts';
import type { AssetRoom } from '../core/router/asset-room.ts';
import { type Port, Router } from '../core/router/router.ts';
import { targetOf } from '../model/pool.ts';

/** Processes of workers that a function may kill in a row: a fourth time would be the same. */
const CRASH_LIMIT = 3;
/** Between two rises of how many workers it asks for: each is a record in the journal. */
const RISE_MS = 200;
/** Between two looks at why it has fewer workers than it asks for. */
const WHY_MS = 1000;

/** How a worker ends that was brought down by what it ran; otherwise the cluster ended it. */
const OWN_FAULTS: ReadonlySet<OutcomeKind> = new Set(['failed', 'out_of_memory']);

export interface PoolParts {
  readonly generation: string;
  /** For the functions and shared values of all pools. */
  readonly room: AssetRoom;
  /** The pool in the state of now; undefined when it is there no more. */
  readonly job: () => Job | undefined;
  /** Asks the controller for another number of workers. */
  readonly scale: (target: number) => void;
  /** Asks the controller to end it: the program is gone that it was for. */
  readonly abandon: () => void;
  /** In words, why it has fewer workers than it asks for. */
  readonly why: (job: Job) => string | null;
  /** In words, why none of its workers will start as things are; null: one may. */
  readonly hopeless: (job: Job) => string | null;
}

export class PoolCalls {
  readonly router: Router;
  readonly #parts: PoolParts;
  /** Workers that hold a node, by index. */
  readonly #alive = new Map<number, string>();
  /** Those of them that were asked to leave. */
  readonly #leaving = new Set<string>();
  #why: string | null = null;
  /** In words, which other pools its workers wait for; null: it has one that does not. */
  waits: string | null = null;
  #hopeless: string | null = null;
  #whyAt = -Infinity;
  #roseAt = -Infinity;
  /** When a program was last known to be there. */
  #usedAt: number;
  /** Connections of clients and workers. */
  lines = 0;
  clients = 0;

  constructor(parts: PoolParts, job: Job, now: number) {
    this.#parts = parts;
    this.#usedAt = now;
    for (const [index, name] of workersOf(job)) this.#alive.set(index, name);
    const { min, max } = boundsOf(job);
    const current = (): Job => parts.job() ?? job;
    const options = {
      generation: parts.generation,
      losses: job.losses,
      min,
      max,
      workers: [...this.#alive.values()],
      crashLimit: CRASH_LIMIT,
      newHash: () => createHash('sha256'),
      room: parts.room,
      /** Asked for anew each time: it can be changed while the pool lives. */
      get idleMs() {
        return boundsOf(current()).idleMs;
      },
    };
    this.router = new Router(options, now);
    for (const name of suspendedOf(job)) this.router.workerSuspended(name, true, now);
  }

  allocated(index: number, epoch: number, shares: readonly Share[]): void {
    const [share] = shares;
    const job = this.#parts.job();
    if (share === undefined || job === undefined) return;
    this.#alive.set(index, workerName(share.node, job, index, epoch));
  }

  /** The worker's epoch is over, and that is durable. */
  ended(index: number, { kind, detail = kind }: Outcome, now: number): void {
    const name = this.#alive.get(index);
    if (name === undefined) return;
    this.#alive.delete(index);
    this.#leaving.delete(name);
    const how = kind === 'completed' ? 'left' : OWN_FAULTS.has(kind) ? 'lost' : 'taken';
    this.router.workerGone(name, how, now, detail);
  }

  /** The worker's process was stopped, or goes on. */
  suspended(name: string, isSuspended: boolean, now: number): void {
    this.router.workerSuspended(name, isSuspended, now);
  }

  /** The state was read anew: whoever is not in it is gone. */
  follow(now: number): void {
    const job = this.#parts.job();
    const live = new Map(job === undefined ? [] : workersOf(job));
    for (const [index, name] of [...this.#alive]) {
      if (live.get(index) === name) continue;
      this.#alive.delete(index);
      this.router.workerGone(name, 'taken', now);
    }
    for (const [index, name] of live) this.#alive.set(index, name);
    const stopped = new Set(job === undefined ? [] : suspendedOf(job));
    for (const name of this.#alive.values()) this.suspended(name, stopped.has(name), now);
  }

  /** The port, which takes no other name than this. */
  named(port: Port<WorkerToRouter>, name: string): Port<WorkerToRouter> {
    let isGreeted = false;
    return {
      ...port,
      take: (messages, now) => {
        const [first] = messages;
        // Whatever else comes first, the router refuses.
        const isHello = !isGreeted && first?.kind === 'hello';
        isGreeted ||= first !== undefined;
        if (isHello && first.worker !== name)
          port.refuse(`it is ${name}, and says that it is another`, now);
        else if (isHello && !this.#isAlive(name)) port.refuse(`${name} has ended`, now);
        else port.take(messages, now);
      },
    };
  }

  /** False for a worker that has ended since it proved who it is. */
  #isAlive(name: string): boolean {
    for (const alive of this.#alive.values()) if (alive === name) return true;
    return false;
  }

  noteLeaving(name: string): void {
    this.#leaving.add(name);
  }

  tick(now: number): void {
    const job = this.#parts.job();
    if (job === undefined) return;
    this.router.tick(now);
    this.#lookWhy(job, now);
    this.#ask(job, now);
    this.#perhapsAbandoned(job, now);
  }

  /**
   * Asks for workers. Those that are starting count, and are not sent back before having been of
   * use.
   */
  #ask(job: Job, now: number): void {
    const { min, max } = boundsOf(job);
    const here = this.#alive.size - this.#leaving.size;
    const wanted = Math.max(min, Math.min(max, Math.max(this.router.demand(), here)));
    const target = targetOf(job.spec);
    if (wanted === target) return;
    if (wanted > target) {
      if (now - this.#roseAt < RISE_MS) return;
      this.#roseAt = now;
    }
    this.#parts.scale(wanted);
  }

  /**
   * A program that is away is given up by the router first; asked again as long as it is refused.
   */
  #perhapsAbandoned({ spec: { pool } }: Job, now: number): void {
    if (this.#isUsed()) this.#usedAt = now;
    if (pool?.isTemporary !== true || now - this.#usedAt < POOL_ABANDONED_MS) return;
    this.#usedAt = now;
    this.#parts.abandon();
  }

  /** A program whose machine fell silent is waited for just as long as its calls are. */
  #isUsed(): boolean {
    for (const { line, isSilent } of this.router.state.sessions.values()) {
      if (line !== null || !isSilent) return true;
    }
    return false;
  }

  #lookWhy(job: Job, now: number): void {
    if (now - this.#whyAt < WHY_MS) return;
    this.#whyAt = now;
    const isShort = job.entry.running < targetOf(job.spec);
    const short = isShort && this.clients > 0 ? this.#parts.why(job) : null;
    const why = [short, this.waits].filter((words) => words !== null).join('; ');
    this.#why = why === '' ? null : why;
    this.#hopeless = this.#alive.size === 0 ? this.#parts.hopeless(job) : null;
    this.#scale(job);
  }

  /** Takes new bounds of the pool. */
  rescale(): void {
    const job = this.#parts.job();
    if (job !== undefined) this.#scale(job);
  }

  #scale(job: Job): void {
    this.router.scale({ ...boundsOf(job), why: this.#why, hopeless: this.#hopeless });
  }
}

/** What a worker says that it is: no other process ever is the same. */
export function workerName(node: string, { id }: Pick<Job, 'id'>, index: number, epoch: number) {
  return `${node}:${formatEpochId(formatTaskId(id, index), epoch)}`;
}

function workersOf(job: Job): [number, string][] {
  const found: [number, string][] = [];
  for (const task of job.active.values()) {
    for (const node of task.parts.keys()) {
      found.push([task.index, workerName(node, job, task.index, task.epoch)]);
    }
  }
  return found;
}

function suspendedOf(job: Job): string[] {
  const found: string[] = [];
  for (const task of job.active.values()) {
    for (const [node, { state }] of task.parts) {
      if (state === 'suspended') found.push(workerName(node, job, task.index, task.epoch));
    }
  }
  return found;
}

function boundsOf({ spec: { pool } }: Job): { min: number; max: number; idleMs: number } {
  const { min = 0, max = 0, idleMs = 0 } = pool ?? {};
  return { min, max, idleMs };
}
