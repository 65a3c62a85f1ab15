// A workload on virtual time through the scheduler that the head uses. Ends come before arrivals of
// the same instant, and each instant is planned once.

import { assert, present } from '../../../kernel/base/assert.ts';
import { Heap } from '../../../kernel/base/heap.ts';
import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import type { JobId, NodeName, UserName } from '../../../kernel/model/ids.ts';
import type { Share } from '../../../kernel/model/orders.ts';
import {
  addResources,
  type Resources,
  subtractResources,
} from '../../../kernel/model/resources.ts';
import {
  DEFAULT_PARTITION,
  DEFAULT_QOS,
  type Scheduling,
} from '../../../kernel/model/scheduling.ts';
import { type Promised, plan, type Start } from '../../../kernel/scheduler/cycle/plan.ts';
import { NO_RULES } from '../../../kernel/scheduler/cycle/snapshot.ts';
import { Queue, type QueueEntry, ShapeBook } from '../../../kernel/scheduler/line/queue.ts';
import { NodePool, type NodeView, type Running } from '../../../kernel/scheduler/room/pool.ts';
import type { NodeSize, ReplayJob } from './machine.ts';

/** One job as it went. */
export interface Run {
  readonly job: ReplayJob;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Replayed {
  /** In the order of arrival. */
  readonly runs: readonly Run[];
  readonly planCycles: number;
  readonly planCpuMs: number;
}

export interface ReplayOptions {
  readonly scheduling: Scheduling;
  /** CPU time used so far, for `planCpuMs`. */
  readonly cpuMs: () => number;
  /** Told after each cycle what was promised to whom. */
  readonly onPlanned?: (now: number, promised: readonly Promised[]) => void;
}

/** `jobs` by submit time, each able to run on the nodes. */
export function replay(
  jobs: readonly ReplayJob[],
  nodes: readonly NodeSize[],
  options: ReplayOptions,
): Replayed {
  return new Replay(jobs, nodes, options).run();
}

interface Active {
  readonly id: JobId;
  readonly startedAt: number;
  readonly endsAt: number;
  readonly shares: readonly Share[];
}

const OWNER = 'trace' as UserName;

class Replay {
  readonly #jobs: readonly ReplayJob[];
  readonly #options: ReplayOptions;
  readonly #pool = new NodePool();
  readonly #queue = new Queue();
  readonly #shapes = new ShapeBook();
  readonly #entries = new Map<JobId, QueueEntry>();
  readonly #running = new Map<NodeName, RunningBook>();
  readonly #active = new Heap<Active>((a, b) =>
    a.endsAt === b.endsAt ? a.id < b.id : a.endsAt < b.endsAt,
  );
  readonly #runs: Run[] = [];
  #arrived = 0;
  #planCycles = 0;
  #planCpuMs = 0;

  constructor(jobs: readonly ReplayJob[], nodes: readonly NodeSize[], options: ReplayOptions) {
    this.#jobs = jobs;
    this.#options = options;
    for (const [index, size] of nodes.entries()) this.#addNode(index + 1, size);
  }

  run(): Replayed {
    for (let now = this.#next(); now !== null; now = this.#next()) {
      while (this.#active.first?.endsAt === now) this.#end(this.#active.pop() as Active);
      while (this.#jobs[this.#arrived]?.submittedAt === now) this.#arrive();
      this.#plan(now);
    }
    assert(this.#queue.size === 0, 'every job of a workload can run');
    return { runs: this.#runs, planCycles: this.#planCycles, planCpuMs: this.#planCpuMs };
  }

  /** When something happens next; null when all is over. */
  #next(): number | null {
    const end = this.#active.first?.endsAt ?? Infinity;
    const arrival = this.#jobs[this.#arrived]?.submittedAt ?? Infinity;
    const next = Math.min(end, arrival);
    return next === Infinity ? null : next;
  }

  #plan(now: number): void {
    const before = this.#options.cpuMs();
    const snapshot = {
      ...NO_RULES,
      queue: this.#queue,
      pool: this.#pool,
      scheduling: this.#options.scheduling,
      startsMax: Infinity,
    };
    const { starts, promised } = plan(snapshot, now);
    this.#planCycles += 1;
    this.#planCpuMs += this.#options.cpuMs() - before;
    for (const start of starts) this.#start(start, now);
    this.#options.onPlanned?.(now, promised);
  }

  /** Job ids count arrivals, so that equal priorities go in the order of arrival. */
  #arrive(): void {
    const job = this.#jobs[this.#arrived] as ReplayJob;
    this.#arrived += 1;
    const { request, walltimeMs, submittedAt } = job;
    const entry: QueueEntry = {
      jobId: this.#arrived as JobId,
      owner: OWNER,
      qos: DEFAULT_QOS,
      nice: 0,
      submittedAt,
      shape: this.#shapes.of({
        partition: DEFAULT_PARTITION,
        request,
        walltimeMs,
        reservation: null,
      }),
      pending: IntervalSet.of([[0, 0]]),
      runningMax: null,
      running: 0,
    };
    this.#entries.set(entry.jobId, entry);
    this.#queue.add(entry);
  }

  #start({ jobId, shares }: Start, now: number): void {
    const entry = present(this.#entries.get(jobId), `job ${jobId} waits`);
    this.#entries.delete(jobId);
    this.#queue.remove(entry);
    const { walltimeMs, reservation } = entry.shape;
    for (const { node, resources, gpus } of shares) {
      const one = { jobId, index: 0, resources, startedAt: now, walltimeMs, reservation };
      this.#bookOf(node).add(one);
      this.#change(
        node,
        (free) => subtractResources(free, resources),
        (free) => {
          return free.filter((number) => !gpus.includes(number));
        },
      );
    }
    const job = this.#jobs[jobId - 1] as ReplayJob;
    const endsAt = now + job.runMs;
    this.#active.push({ id: jobId, startedAt: now, endsAt, shares });
    this.#runs[jobId - 1] = { job, startedAt: now, endedAt: endsAt };
  }

  #end({ id, shares }: Active): void {
    for (const { node, gpus } of shares) {
      const { resources } = this.#bookOf(node).delete(id);
      this.#change(
        node,
        (free) => addResources(free, resources),
        (free) => {
          return [...free, ...gpus].sort((a, b) => a - b);
        },
      );
    }
  }

  #change(
    name: NodeName,
    changed: (free: Resources) => Resources,
    gpusAfter: (free: readonly number[]) => readonly number[],
  ): void {
    const view = present(this.#pool.get(name), `node ${name}`);
    const idle = this.#bookOf(name).size === 0;
    const gpusFree = gpusAfter(view.gpusFree);
    this.#pool.set({ ...view, free: changed(view.free), gpusFree, idle });
  }

  #bookOf(name: NodeName): RunningBook {
    return present(this.#running.get(name), `node ${name}`);
  }

  #addNode(order: number, { cpuCount, memoryBytes, gpuCount = 0 }: NodeSize): void {
    const name = `n${order}` as NodeName;
    const book = new RunningBook();
    this.#running.set(name, book);
    const total = { cpuCount, memoryBytes: memoryBytes ?? 0, gpuCount, counted: {} };
    const view: NodeView = {
      name,
      order,
      total,
      free: total,
      gpusFree: Array.from({ length: gpuCount }, (_, number) => number),
      idle: true,
      running: book,
      labels: new Set<string>(),
      labelsKey: '',
    };
    this.#pool.set(view);
  }
}

/** What runs on one node. */
class RunningBook implements Iterable<Running> {
  readonly #running = new Map<JobId, Running>();

  get size(): number {
    return this.#running.size;
  }

  add(one: Running): void {
    this.#running.set(one.jobId, one);
  }

  delete(id: JobId): Running {
    const one = present(this.#running.get(id), `job ${id} runs here`);
    this.#running.delete(id);
    return one;
  }

  [Symbol.iterator](): Iterator<Running> {
    return this.#running.values();
  }
}
