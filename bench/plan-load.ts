// A large cluster with a long queue, the same in every run, for the benchmarks of the scheduler;
// their arguments are nodes, waiting tasks, shapes and users.

import { IntervalSet } from '../src/kernel/base/interval-set.ts';
import type { JobId, NodeName, UserName } from '../src/kernel/model/ids.ts';
import type { ResourceRequest } from '../src/kernel/model/job.ts';
import type { Resources } from '../src/kernel/model/resources.ts';
import { type Policy, plainScheduling } from '../src/kernel/model/scheduling.ts';
import { NO_RULES, type Snapshot } from '../src/kernel/scheduler/cycle/snapshot.ts';
import {
  type Queue,
  type QueueEntry,
  type Shape,
  ShapeBook,
} from '../src/kernel/scheduler/line/queue.ts';
import { NodePool, type NodeView, type Running } from '../src/kernel/scheduler/room/pool.ts';

const [nodeCount = 10_000, taskCount = 100_000, shapeCount = 100, userCount = 20] = process.argv
  .slice(2)
  .map(Number);
export const SIZES = { nodeCount, taskCount };
/** Cpus of each node. */
export const CPUS = 64;
/** Bytes. */
export const GIB = 2 ** 30;
/** Ms since 1970. */
export const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

let seed = 1;
/** 0 … below - 1, the same in every run (Park and Miller). */
function draw(below: number): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
}

export function amounts(cpuCount: number, memoryBytes: number): Resources {
  return { cpuCount, memoryBytes, gpuCount: 0, counted: {} };
}

/** Four to eight tasks on each node, and from 0 to 3 cpus left. */
export function busyNode(order: number): NodeView {
  const running: Running[] = [];
  const parts = 4 + draw(5);
  let cpus = CPUS - draw(4);
  let memory = 0;
  for (let at = 0; at < parts; at += 1) {
    const own = at === parts - 1 ? cpus : Math.floor(cpus / 2);
    cpus -= own;
    memory += own * GIB;
    running.push({
      jobId: (1_000_000 + order * 10 + at) as JobId,
      index: 0,
      reservation: null,
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
    name,
    order,
    total,
    free,
    running,
    gpusFree: [],
    idle: isEmpty,
    labels: new Set<string>(),
    labelsKey: '',
  };
}

export function emptyNode(order: number): NodeView {
  return nodeView(order, amounts(CPUS, 256 * GIB), amounts(CPUS, 256 * GIB), []);
}

export function poolOf(make: (order: number) => NodeView): NodePool {
  const pool = new NodePool();
  for (let order = 1; order <= nodeCount; order += 1) pool.set(make(order));
  return pool;
}

/** All ask for at least 4 cpus: nothing fits on busy nodes. */
export function shapesOf(book: ShapeBook, partition: string): Shape[] {
  return Array.from({ length: shapeCount }, (_, at) => {
    const perNode = amounts(4 + (at % 60), (1 + (at % 7)) * GIB);
    return book.of({
      partition,
      reservation: null,
      walltimeMs: (1 + (at % 24)) * HOUR_MS,
      request: requestOf(perNode, at % 10 === 0 ? 1 + draw(64) : 1),
    });
  });
}

/** Different shapes, one for each task, all of them with at least 4 cpus too. */
export function distinctShapes(): Shape[] {
  const book = new ShapeBook();
  return Array.from({ length: taskCount }, (_, at) => {
    const perNode = amounts(4 + (at % 60), GIB + at * 2 ** 20);
    return book.of({
      partition: 'default',
      reservation: null,
      walltimeMs: (1 + (at % 24)) * HOUR_MS,
      request: requestOf(perNode, 1),
    });
  });
}

function requestOf(perNode: Resources, nodes: number): ResourceRequest {
  const none = { exclusive: false, labels: [], nodeNames: [] };
  return { nodeCount: nodes, processesPerNode: 1, perNode, ...none };
}

/** A task of every shape in turn; it returns the last one. */
export function fill(queue: Queue, shapes: readonly Shape[]): QueueEntry {
  let last: QueueEntry | undefined;
  for (let at = 0; at < taskCount; at += 1) {
    last = {
      jobId: (at + 1) as JobId,
      owner: `user${draw(userCount)}` as UserName,
      qos: 'normal',
      nice: 0,
      submittedAt: NOW - taskCount + at,
      shape: shapes[at % shapes.length] as Shape,
      pending: IntervalSet.of([[0, 0]]),
      runningMax: null,
      running: 0,
    };
    queue.add(last);
  }
  return last as QueueEntry;
}

export function snapshotOf(pool: NodePool, queue: Queue, policy: Policy): Snapshot {
  const scheduling = { ...plainScheduling(policy), depthMax: 1000 };
  return { ...NO_RULES, queue, pool, scheduling, startsMax: 512 };
}

/** Least and median milliseconds of some runs. */
export function time(runs: number, work: () => void): { least: number; median: number } {
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

export function print(figure: string, value: number, more: object = {}, unit = 'cpu ms'): void {
  const rounded = Number(value.toPrecision(4));
  console.log(JSON.stringify({ peer: 'weft', figure, value: rounded, unit, ...more }));
}
