// Whatever the snapshot: the plan fits, is fair by its policy, and costs what it should.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fitsIn } from '../../../../src/kernel/model/resources.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import { Queue, type QueueEntry } from '../../../../src/kernel/scheduler/line/queue.ts';
import { holdsNow, NodePool, type NodeView } from '../../../../src/kernel/scheduler/room/pool.ts';
import {
  afterwards,
  entries,
  type JobWords,
  type NodeWords,
  planWords,
  request,
  snapshot,
  view,
} from '../../../support/snapshots.ts';

const LABELS = ['a', 'b'];
const amounts = {
  cpus: fc.nat(6),
  memory: fc.nat(6),
  gpus: fc.nat(3),
  counted: fc.oneof(fc.constant({}), fc.record({ lic: fc.nat(3) })),
};
const labels = fc.uniqueArray(fc.constantFrom(...LABELS));
const node = fc.record({ ...amounts, labels }).chain((have) =>
  fc.option(fc.record({ cpus: fc.nat(have.cpus), gpus: fc.nat(have.gpus) })).map((used) => ({
    ...have,
    ...(used === null ? {} : { used }),
  })),
);
const nodes = fc
  .array(node, { maxLength: 8, size: 'max' })
  .map((list): NodeWords[] => list.map((one, at) => ({ ...one, name: `n${at + 1}` })));
const job: fc.Arbitrary<JobWords> = fc.record(
  {
    ...amounts,
    labels,
    nodes: fc.integer({ min: 1, max: 3 }),
    exclusive: fc.boolean(),
    nice: fc.integer({ min: -2, max: 2 }),
    tasks: fc.integer({ min: 1, max: 4 }),
    runningMax: fc.integer({ min: 1, max: 3 }),
    running: fc.nat(2),
    names: fc.uniqueArray(fc.constantFrom('n1', 'n2', 'n3'), { minLength: 3, maxLength: 3 }),
  },
  { requiredKeys: ['cpus', 'memory'] },
);
const jobs = fc.array(job, { maxLength: 12, size: 'max' });
const policy = fc.constantFrom('first_fit' as const, 'fifo' as const);
const RUNS = { numRuns: 1500 };

test('[A2, A4] a plan never gives more than a node has free, and no gpu twice', () => {
  fc.assert(
    fc.property(nodes, jobs, policy, (have, want, by) => {
      const made = plan(snapshot(have, want, { policy: by }), 0);
      const views = have.map((words, at) => view(words, at + 1));
      for (const left of afterwards(views, made)) {
        const { cpuCount, memoryBytes, gpuCount, counted } = left.free;
        const least = Math.min(cpuCount, memoryBytes, gpuCount, ...Object.values(counted));
        assert.ok(least >= 0, `${left.name} is left with ${least}`);
        assert.equal(left.gpusFree.length, gpuCount, `${left.name} gave each gpu once`);
      }
    }),
    RUNS,
  );
});

test('[A1, A5, J8] each start has all its nodes, distinct and suitable, within its limit', () => {
  fc.assert(
    fc.property(nodes, jobs, policy, (have, want, by) => {
      const made = plan(snapshot(have, want, { policy: by }), 0);
      const started = new Map<number, number>();
      for (const { jobId, index, shares } of made.starts) {
        const words = want[jobId - 1] as JobWords;
        started.set(jobId, (started.get(jobId) ?? words.running ?? 0) + 1);
        assert.ok((started.get(jobId) ?? 0) <= (words.runningMax ?? Infinity));
        assert.ok(index < (words.tasks ?? 1));
        assert.equal(new Set(shares.map((share) => share.node)).size, words.nodes ?? 1);
        for (const share of shares) {
          const given = have.find((one) => one.name === share.node) as NodeWords;
          assert.ok((words.labels ?? []).every((label) => given.labels?.includes(label)));
          assert.ok(words.names === undefined || words.names.includes(share.node));
          assert.ok(fitsIn(request(words).perNode, share.resources));
          assert.equal(share.gpus.length, share.resources.gpuCount);
        }
      }
      const tasks = made.starts.map(({ jobId, index }) => `${jobId}[${index}]`);
      assert.equal(new Set(tasks).size, tasks.length, 'no task starts twice');
    }),
    RUNS,
  );
});

test('[A11] the same snapshot gives the same plan, however it was put together', () => {
  fc.assert(
    fc.property(nodes, jobs, policy, (have, want, by) => {
      const made = planWords(plan(snapshot(have, want, { policy: by }), 0));
      const pool = new NodePool();
      for (const one of have.map((words, at) => view(words, at + 1)).reverse()) pool.set(one);
      const queue = new Queue();
      for (const entry of entries(want).reverse()) queue.add(entry);
      const other = plan({ ...snapshot(have, want, { policy: by }), pool, queue }, 12_345);
      assert.equal(planWords(other), made);
    }),
    RUNS,
  );
});

/** Starts one by one in queue order, asking every node every time. */
function naive(have: readonly NodeWords[], want: readonly JobWords[], by: string): string {
  const views = have.map((words, at) => view(words, at + 1));
  const state = { views, started: [] as string[], done: new Set<string>() };
  const line = entries(want).sort((a, b) => a.nice - b.nice || a.jobId - b.jobId);
  for (const [at, entry] of line.entries()) {
    let { running } = entry;
    for (const index of entry.pending) {
      if (running >= (entry.runningMax ?? Infinity)) break;
      if (state.done.has(`${entry.jobId}/${index}`)) continue;
      const chosen = nodesFor(entry, state.views);
      const isOnGpus = chosen?.some(({ total }) => total.gpuCount > 0) === true;
      if (isOnGpus && !needsGpu(entry) && by !== 'fifo') {
        for (const rival of line.slice(at + 1)) {
          if (needsGpu(rival) && rival.runningMax === null) startAll(rival, state);
        }
      }
      if (!startOne(entry, index, state)) {
        if (by === 'fifo') return state.started.join(' ');
        break;
      }
      running += 1;
    }
  }
  return state.started.join(' ');
}

interface Naive {
  views: NodeView[];
  readonly started: string[];
  readonly done: Set<string>;
}

function needsGpu({ shape }: QueueEntry): boolean {
  return shape.request.perNode.gpuCount > 0;
}

function startAll(entry: QueueEntry, state: Naive): void {
  for (const index of entry.pending) {
    if (!state.done.has(`${entry.jobId}/${index}`) && !startOne(entry, index, state)) return;
  }
}

/** Those without free gpus first, for who needs none; null: too few. */
function nodesFor(entry: QueueEntry, views: readonly NodeView[]): NodeView[] | null {
  const { request: wanted } = entry.shape;
  const fitting = views.filter(
    (one) =>
      (wanted.nodeNames.length === 0 || wanted.nodeNames.includes(one.name)) &&
      holdsNow(one, wanted),
  );
  const cost = ({ free }: NodeView) => (needsGpu(entry) || free.gpuCount === 0 ? 0 : 1);
  const chosen = fitting.toSorted((a, b) => cost(a) - cost(b) || a.order - b.order);
  return chosen.length < wanted.nodeCount ? null : chosen.slice(0, wanted.nodeCount);
}

function startOne(entry: QueueEntry, index: number, state: Naive): boolean {
  const { request: wanted } = entry.shape;
  const chosen = nodesFor(entry, state.views);
  if (chosen === null) return false;
  const shares = chosen.map(({ name, total, gpusFree }) => {
    const resources = wanted.exclusive ? total : wanted.perNode;
    return { node: name, resources, gpus: gpusFree.slice(0, resources.gpuCount) };
  });
  const starts = [{ jobId: entry.jobId, index, shares }];
  const made = {
    starts,
    promised: [],
    plansAhead: false,
    resumes: [],
    preemptions: [],
    rest: null,
  };
  state.started.push(planWords(made));
  state.done.add(`${entry.jobId}/${index}`);
  state.views = afterwards(state.views, made);
  return true;
}

test('[A9, A10] the plan is that of the naive scheduler that asks everybody', () => {
  fc.assert(
    fc.property(nodes, jobs, policy, (have, want, by) => {
      const made = planWords(plan(snapshot(have, want, { policy: by }), 0));
      assert.equal(made, naive(have, want, by));
    }),
    RUNS,
  );
});

test('[A9] cycles cut short add up to the plan that is not', () => {
  fc.assert(
    fc.property(nodes, jobs, fc.integer({ min: 1, max: 5 }), (have, want, startsMax) => {
      const whole = plan(snapshot(have, want), 0);
      const part = plan(snapshot(have, want, { startsMax }), 0);
      assert.deepEqual(part.starts, whole.starts.slice(0, startsMax));
      if (part.rest === null) assert.equal(part.starts.length, whole.starts.length);
    }),
    RUNS,
  );
});

test('[A11] a hundred thousand waiting tasks of few shapes ask each shape once', () => {
  const shapes = 20;
  const full = Array.from({ length: 50 }, (_, at) => ({
    name: `n${at + 1}`,
    cpus: 64,
    memory: 64,
    used: { cpus: 64, memory: 63 },
  }));
  const want: JobWords[] = Array.from({ length: 100_000 }, (_, at) => ({
    cpus: 1 + (at % shapes),
  }));
  // Each array with a limit is a group of its own, but its shape is asked no more for that.
  for (let at = 0; at < 1000; at += 1) want.push({ cpus: 1 + (at % shapes), runningMax: 5 });
  const made = snapshot(full, want);
  let asked = 0;
  const fitting = made.pool.fitting.bind(made.pool);
  made.pool.fitting = (wanted) => {
    asked += 1;
    return fitting(wanted);
  };
  assert.deepEqual(plan(made, 0), {
    starts: [],
    promised: [],
    plansAhead: false,
    resumes: [],
    preemptions: [],
    rest: null,
  });
  assert.equal(asked, shapes);
});
