// Calls of all pools: a router for each that lives, in memory alone, and the WebSockets of clients
// and workers. What the pools and their workers are, the state says.

import { asSentence } from '../../../kernel/base/sentence.ts';
import { firstPending } from '../../../kernel/head/answers/job-state.ts';
import { Reasons } from '../../../kernel/head/answers/reasons.ts';
import type { WorkerCaller } from '../../../kernel/head/auth/authenticate.ts';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { Event } from '../../../kernel/machine/declared.ts';
import type { Of } from '../../../kernel/machine/events.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { JobId } from '../../../kernel/model/ids.ts';
import { CALL_ASSETS_ALL_BYTES_MAX } from '../../../kernel/model/limits.ts';
import type { Chance } from '../../../kernel/ports/chance.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import { AssetRoom } from '../core/router/asset-room.ts';
import { waitsBetween } from '../core/router/between.ts';
import type { Inside } from '../core/router/records.ts';
import type { Port } from '../core/router/router.ts';
import { whyHopeless } from '../machine/hopeless.ts';
import { isOpenPool, isStopping } from '../machine/live.ts';
import { HOST_HEADER } from '../model/host.ts';
import {
  CLIENT_TO_ROUTER,
  type Message,
  ROUTER_TO_CLIENT,
  ROUTER_TO_WORKER,
  WORKER_TO_ROUTER,
} from '../wire/call-frames.ts';
import { takeOver, type UpgradeRequest } from './handshake.ts';
import { type LineWorld, RouterLine } from './line.ts';
import { PoolCalls } from './pool-calls.ts';
import { sayPoolWait } from './pool-wait.ts';
import { Slices } from './slices.ts';

/**
 * Routers move by themselves so often: a call that waits for a time waits so much longer at most.
 */
const TICK_MS = 20;
/** Those that nobody is connected to. */
const IDLE_TICKS = 50;
/** Between two looks at which pools wait for each other. */
const BETWEEN_MS = 1000;
/** Calls that come and go soon are no wait to tell of. */
const WAITS_AFTER_MS = 3000;
/** Programs that have one pool open at once. */
export const CALL_CLIENTS_MAX = 1000;

export interface CallsPorts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly chance: Chance;
}

const CLIENT = { reads: CLIENT_TO_ROUTER, writes: ROUTER_TO_CLIENT, isClient: false };
const WORKER = { reads: WORKER_TO_ROUTER, writes: ROUTER_TO_WORKER, isClient: false };

/** Numbers of calls that are over. */
interface Ended {
  readonly done: number;
  readonly failed: number;
}

function added(a: Ended, b: Ended): Ended {
  return { done: a.done + b.done, failed: a.failed + b.failed };
}

/** `PeerLine.host`, as a client or worker says it. */
function hostOf({ headers }: UpgradeRequest['incoming']): string | null {
  const said = headers[HOST_HEADER];
  return typeof said === 'string' && /^[0-9a-f]{64}$/.test(said) ? said : null;
}

export class Calls {
  readonly #ports: CallsPorts;
  readonly #pools = new Map<JobId, PoolCalls>();
  readonly #world: LineWorld;
  #timer: Timer | null = null;
  #ticks = 0;
  readonly #room = new AssetRoom(CALL_ASSETS_ALL_BYTES_MAX);
  #lives: number;
  /** Calls that ended in pools that are gone. */
  #endedBefore: Ended = { done: 0, failed: 0 };
  readonly #lines = new Set<{ leave(): void }>();
  /** Pools whose workers all wait for calls of others, and since when. */
  #between = new Map<JobId, number>();
  #betweenAt = Number.NEGATIVE_INFINITY;

  constructor(ports: CallsPorts) {
    const { clock, engine } = ports;
    this.#ports = ports;
    this.#world = { clock, slices: new Slices(clock) };
    this.#lives = engine.lives;
    for (const job of engine.state.indexes.pools) if (isOpenPool(job)) this.#add(job);
  }

  /** Undefined: it does not live. */
  of(jobId: JobId): PoolCalls | undefined {
    return this.#pools.get(jobId);
  }

  get pools(): ReadonlyMap<JobId, PoolCalls> {
    return this.#pools;
  }

  /** Calls that have ended since the head started, and those of them that have failed. */
  get ended(): Ended {
    let sum = this.#endedBefore;
    for (const { router } of this.#pools.values()) sum = added(sum, router.view(this.#now()));
    return sum;
  }

  /** `inside`: where its program runs, when that is in a call. */
  openClient(pool: PoolCalls, door: UpgradeRequest, inside: Inside | null = null): void {
    const host = hostOf(door.incoming);
    const opened = takeOver(door);
    if (opened === null) return;
    const line = new RouterLine(opened, CLIENT, this.#world);
    pool.clients += 1;
    const port = pool.router.openClient(line, this.#now(), { inside, host });
    this.#opened(pool, line, port, () => {
      pool.clients -= 1;
    });
  }

  openWorker(pool: PoolCalls, { node, epochId }: WorkerCaller, door: UpgradeRequest): void {
    const opened = takeOver(door);
    if (opened === null) return;
    const name = `${node}:${epochId}`;
    const line = new RouterLine(opened, WORKER, this.#world);
    const peer = {
      send: (message: Parameters<typeof line.send>[0]) => {
        if (message.kind === 'leave') pool.noteLeaving(name);
        line.send(message);
      },
      close: () => line.close(),
      get isBehind() {
        return line.isBehind;
      },
    };
    const port = pool.router.openWorker(peer, this.#now(), hostOf(door.incoming));
    this.#opened(pool, line, pool.named(port, name), () => undefined);
  }

  /** What is durable now. */
  committed(events: readonly Event[]): void {
    for (const event of events) this.#follow(event);
  }

  /** Stops without closing sessions: connected programs come back to the next head. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const line of this.#lines) line.leave();
  }

  #opened<In extends Message, Out extends Message>(
    pool: PoolCalls,
    line: RouterLine<In, Out>,
    port: Port<In>,
    whenGone: () => void,
  ): void {
    pool.lines += 1;
    this.#lines.add(line);
    line.open(port, () => {
      pool.lines -= 1;
      this.#lines.delete(line);
      whenGone();
    });
  }

  #follow(event: Event): void {
    switch (event.kind) {
      case 'job_submitted':
        if (event.spec.pool !== undefined) this.#added(event.jobId);
        return;
      case 'task_allocated': {
        const { place, epoch, shares } = event;
        this.#pools.get(place.jobId)?.allocated(place.index ?? 0, epoch, shares);
        return;
      }
      case 'task_requeued':
      case 'task_done': {
        const { place, outcome } = event;
        this.#pools.get(place.jobId)?.ended(place.index ?? 0, outcome, this.#now());
        return;
      }
      case 'part_suspended':
      case 'part_resumed':
        this.#suspended(event);
        return;
      case 'pool_scaled':
        this.#pools.get(event.jobId)?.rescale();
        return;
      case 'end_asked':
        if (event.why === 'cancel') this.#perhapsStopped(event);
        return;
      case 'job_done':
        this.#close(event.jobId, event.outcome.detail ?? event.outcome.kind);
        return;
      default:
    }
  }

  /** One that has ended meanwhile is told of by itself. */
  #suspended({ kind, epochId, node }: Of<'part_suspended' | 'part_resumed'>): void {
    const { nodes } = this.#ports.engine.state;
    const task = nodes.get(node)?.holding.get(epochId)?.task;
    const pool = task == null ? undefined : this.#pools.get(task.job.id);
    pool?.suspended(`${node}:${epochId}`, kind === 'part_suspended', this.#now());
  }

  #added(jobId: JobId): void {
    const job = this.#ports.engine.state.jobs.get(jobId);
    if (job !== undefined && isOpenPool(job) && !this.#pools.has(jobId)) this.#add(job);
  }

  #add(job: Job): void {
    const { engine, chance } = this.#ports;
    const { id: jobId } = job;
    const parts = {
      generation: Buffer.from(chance.bytes(16)).toString('hex'),
      room: this.#room,
      job: () => engine.state.jobs.get(jobId),
      scale: (target: number) => {
        const command = { kind: 'scale_pool', jobId, target } as const;
        // Refused while the store cannot write: it is asked for again.
        engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, () => undefined);
      },
      abandon: () => {
        const command = { kind: 'abandon_pool', jobId } as const;
        engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, () => undefined);
      },
      why: (one: Job) => {
        const index = firstPending(one);
        return index === undefined ? null : new Reasons(engine).of(one, index).words;
      },
      hopeless: (one: Job) => whyHopeless(engine.state, one),
    };
    this.#pools.set(jobId, new PoolCalls(parts, job, this.#now()));
    this.#timer ??= this.#ports.clock.after(TICK_MS, () => this.#tick());
  }

  /** All its workers are to end, and none waits: nobody is to take that for a loss of workers. */
  #perhapsStopped({ place: { jobId }, by, because, closes }: Of<'end_asked'>): void {
    const job = this.#ports.engine.state.jobs.get(jobId);
    if (job === undefined || !this.#pools.has(jobId)) return;
    if (isStopping(job))
      this.#close(jobId, because ?? `${closes ? 'closed' : 'cancelled'} by ${by}`);
  }

  #close(jobId: JobId, words: string): void {
    const pool = this.#pools.get(jobId);
    if (pool === undefined) return;
    this.#pools.delete(jobId);
    this.#endedBefore = added(this.#endedBefore, pool.router.view(this.#now()));
    pool.router.close(asSentence(`The pool is over: ${words}`), this.#now());
  }

  #tick(): void {
    this.#timer = null;
    this.#ticks += 1;
    const now = this.#now();
    const { lives } = this.#ports.engine;
    if (lives !== this.#lives) this.#renew(now);
    this.#lives = lives;
    this.#lookBetween(now);
    for (const pool of this.#pools.values()) {
      if (pool.lines > 0 || this.#ticks % IDLE_TICKS === 0) pool.tick(now);
    }
    if (this.#pools.size > 0) this.#timer = this.#ports.clock.after(TICK_MS, () => this.#tick());
  }

  #lookBetween(now: number): void {
    if (now - this.#betweenAt < BETWEEN_MS) return;
    this.#betweenAt = now;
    const states = [...this.#pools].map(([id, { router }]) => [id, router.state] as const);
    const found = waitsBetween(new Map(states));
    const before = this.#between;
    this.#between = new Map([...found.keys()].map((id) => [id, before.get(id) ?? now]));
    for (const [id, pool] of this.#pools) {
      const wait = found.get(id);
      const isLong = now - (this.#between.get(id) ?? now) >= WAITS_AFTER_MS;
      pool.waits = wait === undefined || !isLong ? null : sayPoolWait(wait, this.#nameOf);
    }
  }

  readonly #nameOf = (id: JobId): string => {
    return this.#ports.engine.state.jobs.get(id)?.spec.pool?.name ?? `${id}`;
  };

  /** The head has read its store again: what was told and was not durable is not so. */
  #renew(now: number): void {
    const { state } = this.#ports.engine;
    for (const [jobId, pool] of [...this.#pools]) {
      const job = state.jobs.get(jobId);
      if (job === undefined || !isOpenPool(job)) this.#close(jobId, 'it is not known any more');
      else pool.follow(now);
    }
    for (const job of state.indexes.pools) {
      if (isOpenPool(job) && !this.#pools.has(job.id)) this.#add(job);
    }
  }

  #now(): number {
    return this.#ports.clock.monotonic();
  }
}
