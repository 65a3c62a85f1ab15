// What a scheduling cycle costs on a large cluster with a long queue, without head and journal:
// arguments are nodes, waiting tasks, shapes and users. Prints one JSON line per figure, each
// beside `naive`: one pass that asks every node about every shape, by the same code, in the same
// run. `distinct_*`: every task asks for something else, cycle after cycle until one is whole.

import { IntervalSet } from '../src/core/base/interval-set.ts';
import type { JobId, NodeName, UserName } from '../src/core/model/ids.ts';
import type { ResourceRequest } from '../src/core/model/job.ts';
import { LOOKS_PER_CYCLE_MAX } from '../src/core/model/limits.ts';
import type { Resources } from '../src/core/model/resources.ts';
import { type Policy, plainPartition, plainScheduling } from '../src/core/model/scheduling.ts';
import { NO_RULES, plan, type Snapshot } from '../src/core/scheduler/plan.ts';
import { holdsNow, NodePool, type NodeView, type Running } from '../src/core/scheduler/pool.ts';
import { Queue, type Shape, ShapeBook } from '../src/core/scheduler/queue.ts';
import type { Rest } from '../src/core/scheduler/rest.ts';

const [nodeCount = 10_000, taskCount = 100_000, shapeCount = 100, userCount = 20] = process.argv
  .slice(2)
  .map(Number);
const CPUS = 64;
const GIB = 2 ** 30;
const HOUR_MS = 3_600_000;
const looksMax = LOOKS_PER_CYCLE_MAX;
const NOW = 1_800_000_000_000;

let seed = 1;
/** 0 … below - 1, the same in every run (Park and Miller). */
function draw(below: number): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
}

function amounts(cpuCount: number, memoryBytes: number): Resources {
  return { cpuCount, memoryBytes, gpuCount: 0, counted: {} };
}

/** Four to eight tasks on each node, and from 0 to 3 cpus left. */
function busyNode(order: number): NodeView {
  const running: Running[] = [];
  const parts = 4 + draw(5);
  let cpus = CPUS - draw(4);
  let memory = 0;
  for (let at = 0; at < parts; at += 1) {
    const own = at === parts - 1 ? cpus : Math.floor(cpus / 2);
    cpus -= own;
    memory += own * GIB;
    running.push({
      ...{ jobId: (1_000_000 + order * 10 + at) as JobId, index: 0, reservation: null },
      resources: amounts(own, own * GIB),
      startedAt: NOW - draw(5) * HOUR_MS,
      walltimeMs: (6 + draw(40)) * HOUR_MS,
      occupant: {
        owner: 'low' as UserName,
        partition: 'low',
        qos: 'normal',
        nodeCount: 1,
        canSuspend: true,
        canRequeue: true,
      },
    });
  }
  const total = amounts(CPUS, 256 * GIB);
  const used = running.reduce((sum, one) => sum + one.resources.cpuCount, 0);
  return nodeView(order, total, amounts(CPUS - used, 256 * GIB - memory), running);
}

function nodeView(order: number, total: Resources, free: Resources, running: Running[]): NodeView {
  const name = `n${order}` as NodeName;
  const isEmpty = running.length === 0;
  return {
    ...{ name, order, total, free, running, gpusFree: [], idle: isEmpty },
    labels: new Set<string>(),
    labelsKey: '',
  };
}

function emptyNode(order: number): NodeView {
  return nodeView(order, amounts(CPUS, 256 * GIB), amounts(CPUS, 256 * GIB), []);
}

/** All ask for at least 4 cpus: nothing fits on busy nodes. */
function shapesOf(book: ShapeBook, partition: string): Shape[] {
  return Array.from({ length: shapeCount }, (_, at) => {
    const request: ResourceRequest = {
      nodeCount: at % 10 === 0 ? 1 + draw(64) : 1,
      processesPerNode: 1,
      perNode: amounts(4 + (at % 60), (1 + (at % 7)) * GIB),
      ...{ exclusive: false, labels: [], nodeNames: [] },
    };
    const walltimeMs = (1 + (at % 24)) * HOUR_MS;
    return book.of({ partition, request, walltimeMs, reservation: null });
  });
}

function fill(queue: Queue, shapes: readonly Shape[]): void {
  for (let at = 0; at < taskCount; at += 1) {
    queue.add({
      jobId: (at + 1) as JobId,
      owner: `user${draw(userCount)}` as UserName,
      ...{ qos: 'normal', nice: 0, submittedAt: NOW - taskCount + at },
      shape: shapes[at % shapes.length] as Shape,
      pending: IntervalSet.of([[0, 0]]),
      ...{ runningMax: null, running: 0 },
    });
  }
}

function poolOf(make: (order: number) => NodeView): NodePool {
  const pool = new NodePool();
  for (let order = 1; order <= nodeCount; order += 1) pool.set(make(order));
  return pool;
}

/** Least and median milliseconds of some runs. */
function time(runs: number, work: () => void): { least: number; median: number } {
  const taken: number[] = [];
  for (let at = 0; at < runs; at += 1) {
    const from = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(from);
    taken.push((user + system) / 1000);
  }
  taken.sort((a, b) => a - b);
  return { least: taken[0] as number, median: taken[runs >> 1] as number };
}

function print(figure: string, value: number, unit: string, more: object = {}): void {
  const rounded = Number(value.toPrecision(4));
  console.log(JSON.stringify({ peer: 'weft', figure, value: rounded, unit, ...more }));
}

const book = new ShapeBook();
const shapes = shapesOf(book, 'default');
const urgent = shapesOf(book, 'urgent');
const queue = new Queue();
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
fill(queue, shapes);
globalThis.gc?.();
if (globalThis.gc !== undefined) {
  const bytes = process.memoryUsage().heapUsed - before;
  print('queue_memory_per_task', bytes / taskCount, 'bytes', { asked: 1024 });
}
const busy = poolOf(busyNode);
const empty = poolOf(emptyNode);

const naive = time(5, () => {
  let found = 0;
  for (const shape of shapes)
    for (const node of busy) if (holdsNow(node, shape.request)) found += 1;
  if (found > 0) throw new Error('the nodes are busy');
}).median;

function snapshotOf(pool: NodePool, policy: Policy, more: Partial<Snapshot> = {}): Snapshot {
  const scheduling = { ...plainScheduling(policy), depthMax: 1000 };
  return { ...NO_RULES, queue, pool, scheduling, startsMax: 512, ...more };
}

function figure(name: string, asked: number | null, work: () => void): void {
  work(); // Once for the compiler.
  const { least, median } = time(9, work);
  const limit = { least: Number(least.toPrecision(4)), naive: Number(naive.toPrecision(4)) };
  print(name, median, 'cpu ms', asked === null ? limit : { asked, ...limit });
}

/** One task of 4 cpus or more has ended somewhere: what starts there, and back again. */
function afterOneEvent(policy: Policy): () => void {
  const snapshot = snapshotOf(busy, policy);
  let next = 0;
  return () => {
    next = (next % nodeCount) + 1;
    const view = busy.get(`n${next}` as NodeName) as NodeView;
    const running = [...view.running].slice(1);
    const used = running.reduce((sum, one) => sum + one.resources.cpuCount, 0);
    const free = amounts(CPUS - used, 256 * GIB - used * GIB);
    busy.set({ ...view, free, running });
    plan(snapshot, NOW);
    busy.set(view);
  };
}

figure('cycle_nothing_fits', 50, () => void plan(snapshotOf(busy, 'first_fit'), NOW));
figure('cycle_512_starts', 50, () => void plan(snapshotOf(empty, 'first_fit'), NOW));
figure('cycle_easy', 50, () => void plan(snapshotOf(busy, 'easy'), NOW));
figure('cycle_conservative_1000', 200, () => void plan(snapshotOf(busy, 'conservative'), NOW));
figure('one_event_first_fit', 5, afterOneEvent('first_fit'));
figure('one_event_easy', 5, afterOneEvent('easy'));

const low = { ...plainPartition('low'), preempt: 'requeue' as const };
const high = { ...plainPartition('urgent'), tier: 1 };
const scheduling = {
  ...plainScheduling('first_fit'),
  partitions: { ...plainScheduling('first_fit').partitions, low, urgent: high },
};
const urgentQueue = new Queue();
fill(urgentQueue, urgent);
figure('cycle_preemption', null, () => {
  plan({ ...snapshotOf(busy, 'first_fit', { looksMax }), queue: urgentQueue, scheduling }, NOW);
});

/** Tasks of as many shapes, all with at least 4 cpus, like `shapes`. */
function distinctQueue(): Queue {
  const own = new ShapeBook();
  const filled = new Queue();
  for (let at = 0; at < taskCount; at += 1) {
    const perNode = amounts(4 + (at % 60), GIB + at * 2 ** 20);
    const request = { nodeCount: 1, processesPerNode: 1, perNode, exclusive: false };
    filled.add({
      jobId: (at + 1) as JobId,
      owner: `user${draw(userCount)}` as UserName,
      ...{ qos: 'normal', nice: 0, submittedAt: NOW - taskCount + at },
      shape: own.of({
        partition: 'default',
        request: { ...request, labels: [], nodeNames: [] },
        walltimeMs: (1 + (at % 24)) * HOUR_MS,
        reservation: null,
      }),
      ...{ pending: IntervalSet.of([[0, 0]]), runningMax: null, running: 0 },
    });
  }
  return filled;
}

/** Cpu ms of each cycle until one is whole. */
function settle(snapshot: Snapshot): number[] {
  const taken: number[] = [];
  for (let from: Rest | null = null; taken.length === 0 || from !== null; ) {
    const { least } = time(1, () => {
      from = plan({ ...snapshot, looksMax, from }, NOW).rest;
    });
    taken.push(least);
  }
  return taken;
}

const distinct = distinctQueue();
for (const policy of ['first_fit', 'easy', 'fifo', 'conservative'] as const) {
  const snapshot = { ...snapshotOf(busy, policy), queue: distinct };
  settle(snapshot); // Once for the compiler.
  const taken = settle(snapshot);
  const total = taken.reduce((sum, ms) => sum + ms, 0);
  const more = { cycles: taken.length, total: Number(total.toPrecision(4)) };
  print(`distinct_longest_cycle_${policy}`, Math.max(...taken), 'cpu ms', { asked: 50, ...more });
}
