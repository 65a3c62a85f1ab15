// What a scheduling cycle costs on a large cluster with a long queue, without head and journal.
// Prints one JSON line per figure, each beside `naive`: one pass that asks every node about every
// shape, by the same code, in the same run. `distinct_*`: every task asks for something else, cycle
// after cycle until one is whole. `why_*`: what one question about the last of the line costs.

import type { NodeName } from '../src/kernel/model/ids.ts';
import { LOOKS_PER_CYCLE_MAX, TURN_LOOKS_MAX } from '../src/kernel/model/limits.ts';
import { type Policy, plainPartition, plainScheduling } from '../src/kernel/model/scheduling.ts';
import { prospectOf } from '../src/kernel/scheduler/answers/prospect.ts';
import { plan } from '../src/kernel/scheduler/cycle/plan.ts';
import type { Rest } from '../src/kernel/scheduler/cycle/rest.ts';
import type { Snapshot } from '../src/kernel/scheduler/cycle/snapshot.ts';
import { Queue, ShapeBook } from '../src/kernel/scheduler/line/queue.ts';
import { holdsNow, type NodeView } from '../src/kernel/scheduler/room/pool.ts';
import {
  amounts,
  busyNode,
  CPUS,
  distinctShapes,
  emptyNode,
  fill,
  GIB,
  NOW,
  poolOf,
  print,
  SIZES,
  shapesOf,
  snapshotOf,
  time,
} from './plan-load.ts';

const looksMax = LOOKS_PER_CYCLE_MAX;
const book = new ShapeBook();
const shapes = shapesOf(book, 'default');
const urgent = shapesOf(book, 'urgent');
const queue = new Queue();
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
const last = fill(queue, shapes);
globalThis.gc?.();
if (globalThis.gc !== undefined) {
  const bytes = process.memoryUsage().heapUsed - before;
  print('queue_memory_per_task', bytes / SIZES.taskCount, { asked: 1024 }, 'bytes');
}
const busy = poolOf(busyNode);
const empty = poolOf(emptyNode);

const naive = time(5, () => {
  let found = 0;
  for (const shape of shapes)
    for (const node of busy) if (holdsNow(node, shape.request)) found += 1;
  if (found > 0) throw new Error('the nodes are busy');
}).median;

function figure(name: string, asked: number | null, work: () => void): void {
  work(); // Once for the compiler.
  const { least, median } = time(9, work);
  const limit = { least: Number(least.toPrecision(4)), naive: Number(naive.toPrecision(4)) };
  print(name, median, asked === null ? limit : { asked, ...limit });
}

/** One task of 4 cpus or more has ended somewhere: what starts there, and back again. */
function afterOneEvent(policy: Policy): () => void {
  const snapshot = snapshotOf(busy, queue, policy);
  let next = 0;
  return () => {
    next = (next % SIZES.nodeCount) + 1;
    const view = busy.get(`n${next}` as NodeName) as NodeView;
    const running = [...view.running].slice(1);
    const used = running.reduce((sum, one) => sum + one.resources.cpuCount, 0);
    const free = amounts(CPUS - used, 256 * GIB - used * GIB);
    busy.set({ ...view, free, running });
    plan(snapshot, NOW);
    busy.set(view);
  };
}

function cycle(pool: typeof busy, policy: Policy): () => void {
  return () => void plan(snapshotOf(pool, queue, policy), NOW);
}

figure('cycle_nothing_fits', 50, cycle(busy, 'first_fit'));
figure('cycle_512_starts', 50, cycle(empty, 'first_fit'));
figure('cycle_easy', 50, cycle(busy, 'easy'));
figure('cycle_conservative_1000', 200, cycle(busy, 'conservative'));
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
  plan({ ...snapshotOf(busy, urgentQueue, 'first_fit'), looksMax, scheduling }, NOW);
});

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

function printLongest(name: string, snapshot: Snapshot): void {
  settle(snapshot); // Once for the compiler.
  const taken = settle(snapshot);
  const total = taken.reduce((sum, ms) => sum + ms, 0);
  const more = { cycles: taken.length, total: Number(total.toPrecision(4)) };
  print(name, Math.max(...taken), { asked: 50, ...more });
}

const distinct = new Queue();
const lastDistinct = fill(distinct, distinctShapes());
for (const policy of ['first_fit', 'easy', 'fifo', 'conservative'] as const) {
  printLongest(`distinct_longest_cycle_${policy}`, snapshotOf(busy, distinct, policy));
}
printLongest('longest_cycle_conservative_1000', snapshotOf(busy, queue, 'conservative'));

for (const policy of ['first_fit', 'easy', 'fifo', 'conservative'] as const) {
  const ask = (of: Queue, entry: typeof last) => (): void => {
    prospectOf(
      () => ({ ...snapshotOf(busy, of, policy), looksMax: TURN_LOOKS_MAX }),
      { entry, index: 0 },
      NOW,
    );
  };
  figure(`why_${policy}`, 50, ask(queue, last));
  figure(`why_distinct_${policy}`, 50, ask(distinct, lastDistinct));
}
