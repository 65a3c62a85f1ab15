// The forecast against what happens: a run on virtual time in which everything takes as long as it
// may, and nothing new comes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { FORECAST_TASKS_MAX } from '../../../../src/kernel/model/limits.ts';
import { addResources, subtractResources } from '../../../../src/kernel/model/resources.ts';
import { forecast, plannedStarts } from '../../../../src/kernel/scheduler/answers/forecast.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import type { Stopped } from '../../../../src/kernel/scheduler/cycle/resume.ts';
import { lineRules, type Snapshot } from '../../../../src/kernel/scheduler/cycle/snapshot.ts';
import { candidateOf } from '../../../../src/kernel/scheduler/line/line.ts';
import { UNKNOWN_END } from '../../../../src/kernel/scheduler/room/profile.ts';
import { resources } from '../../../support/nodes.ts';
import { entries, type JobWords, type NodeWords, snapshot } from '../../../support/snapshots.ts';

function forecastOf(shot: Snapshot, jobs: readonly JobWords[], id: number, looksMax?: number) {
  const entry = entries(jobs)[id - 1];
  assert.ok(entry !== undefined);
  const target = candidateOf(entry, 0, lineRules(shot));
  assert.ok(target !== null);
  return forecast(shot, target, 0, looksMax);
}

interface Held {
  readonly end: number;
  readonly node: NodeName;
  readonly jobId: number;
}

/** When each job starts, by id, with everything taking exactly its time limit. */
function run(snapped: Snapshot): Map<number, number> {
  const starts = new Map<number, number>();
  const shot = { ...snapped, stopped: [...snapped.stopped] };
  let held: Held[] = [...shot.pool].flatMap((view) =>
    [...view.running].map((one) => ({
      end: one.walltimeMs as number,
      node: view.name,
      jobId: one.jobId as number,
    })),
  );
  for (let now = 0; ; ) {
    const made = plan(shot, now);
    for (const { jobId } of made.resumes) {
      const at = shot.stopped.findIndex((one) => one.jobId === jobId);
      for (const one of shot.stopped.splice(at, 1)) held.push(goesOn(shot, one, now));
    }
    for (const { jobId, shares } of made.starts) {
      const group = [...shot.queue.groups.values()].find((one) =>
        [...one.entries].some((entry) => entry.jobId === jobId),
      );
      const entry = [...(group?.entries ?? [])].find((one) => one.jobId === jobId);
      assert.ok(entry !== undefined);
      shot.queue.remove(entry);
      starts.set(jobId, now);
      const { walltimeMs, request } = entry.shape;
      for (const { node, resources } of shares) {
        const view = shot.pool.get(node);
        assert.ok(view !== undefined && walltimeMs !== null);
        const running = [
          ...view.running,
          { jobId, index: 0, resources, startedAt: now, walltimeMs, reservation: null },
        ];
        const free = subtractResources(view.free, request.perNode);
        shot.pool.set({ ...view, free, idle: false, running });
        held.push({ end: now + walltimeMs, node, jobId });
      }
    }
    if (held.length === 0) return starts;
    now = Math.min(...held.map(({ end }) => end));
    for (const { node, jobId } of held.filter(({ end }) => end === now)) {
      const view = shot.pool.get(node);
      assert.ok(view !== undefined);
      const gone = [...view.running].find((one) => one.jobId === jobId);
      assert.ok(gone !== undefined);
      const running = [...view.running].filter((one) => one !== gone);
      const free = addResources(view.free, gone.resources);
      shot.pool.set({ ...view, free, running, idle: running.length === 0 });
    }
    held = held.filter(({ end }) => end > now);
  }
}

function goesOn({ pool }: Snapshot, { jobId, nodes: [node], ...one }: Stopped, now: number): Held {
  const view = pool.get(node as NodeName);
  assert.ok(view !== undefined && one.timeLeftMs !== null);
  const walltimeMs = one.timeLeftMs;
  const cpus = resources({ cpus: one.cpuCount });
  const again = { jobId, index: 0, resources: cpus, startedAt: now, walltimeMs, reservation: null };
  const running = [...view.running, again];
  pool.set({ ...view, free: subtractResources(view.free, cpus), idle: false, running });
  return { end: now + walltimeMs, node: view.name, jobId };
}

const time = fc.integer({ min: 1, max: 9 }).map((units) => units * 1000);
const node = fc
  .record({ cpus: fc.integer({ min: 1, max: 4 }), memory: fc.integer({ min: 1, max: 4 }) })
  .chain((have) =>
    fc
      .option(fc.record({ cpus: fc.integer({ min: 1, max: have.cpus }), until: time }))
      .map((used) =>
        used === null ? have : { ...have, used: { cpus: used.cpus }, until: used.until },
      ),
  );
const nodes = fc
  .array(node, { minLength: 1, maxLength: 5 })
  .map((list): NodeWords[] => list.map((one, at) => ({ ...one, name: `n${at + 1}` })));

const stop = fc.record({ at: fc.nat(4), cpus: fc.integer({ min: 1, max: 4 }), timeLeftMs: time });
type Stop = typeof stop extends fc.Arbitrary<infer One> ? One : never;
const stops = fc.array(stop, { maxLength: 3 });

/** Each with one node, where it has run: alone it fits. Ids from 101 on. */
function stoppedOn(have: readonly NodeWords[], list: readonly Stop[]): Stopped[] {
  return list.map(({ at, cpus, timeLeftMs }, number) => {
    const node = have[at % have.length] as NodeWords;
    return {
      jobId: (101 + number) as JobId,
      index: 0,
      partition: 'default',
      qos: 'normal',
      nodes: [node.name as NodeName],
      cpuCount: Math.min(cpus, node.cpus ?? 0),
      timeLeftMs,
      reservation: null,
    };
  });
}

const job: fc.Arbitrary<JobWords> = fc.record({
  cpus: fc.nat(4),
  memory: fc.nat(4),
  nodes: fc.integer({ min: 1, max: 3 }),
  time,
});
const jobs = fc.array(job, { minLength: 1, maxLength: 8 });

test('[A23] under conservative the first task starts when it was foretold', () => {
  fc.assert(
    fc.property(nodes, jobs, stops, (have, want, list) => {
      const stopped = stoppedOn(have, list);
      const shot = () => snapshot(have, want, { policy: 'conservative', stopped });
      const foretold = forecastOf(shot(), want, 1);
      assert.equal(foretold?.at, run(shot()).get(1));
      assert.equal(foretold?.unplannedAfter ?? null, null);
    }),
    { numRuns: 1000 },
  );
});

test('[A23, P15] a start on a node with gpus is foretold after what goes first there', () => {
  const n1 = { name: 'n1', cpus: 4, memory: 4, gpus: 2 };
  const busy = { ...n1, used: { cpus: 1 }, until: 1000 };
  const first = { cpus: 4, time: 1000 };
  const rivals = [
    { cpus: 1, gpus: 1, time: 6000 },
    { cpus: 1, gpus: 1, time: 7000 },
  ];
  for (const [node, want, when] of [
    [n1, [first, { cpus: 1, gpus: 1, time: 5000 }], 5000],
    [busy, [first, { cpus: 1, gpus: 1, time: 2000 }], 3000],
    [busy, [first, ...rivals], 8000],
    [busy, [{ ...first, gpus: 1 }, ...rivals], 1000],
    [busy, [first, { cpus: 1, gpus: 1, time: 900 }], 1000],
  ] as const) {
    const shot = () => snapshot([node], want, { policy: 'conservative' });
    assert.deepEqual([forecastOf(shot(), want, 1)?.at, run(shot()).get(1)], [when, when]);
  }
});

test('[A23] under fifo every task starts when it was foretold', () => {
  fc.assert(
    fc.property(nodes, jobs, stops, (have, want, list) => {
      const stopped = stoppedOn(have, list);
      const shot = (some: readonly JobWords[]) => snapshot(have, some, { policy: 'fifo', stopped });
      const fits = want.filter((one) => forecastOf(shot([one]), [one], 1) !== null);
      const started = run(shot(fits));
      fits.forEach((_, at) => {
        assert.equal(forecastOf(shot(fits), fits, at + 1)?.at, started.get(at + 1));
      });
    }),
    { numRuns: 500 },
  );
});

test('[A23] what can never run has no forecast, and no end of tasks is guessed', () => {
  const one: NodeWords = { name: 'n1', cpus: 4, memory: 4, used: { cpus: 1 } };
  const want = [{ cpus: 5 }, { cpus: 4 }];
  assert.equal(forecastOf(snapshot([one], want), want, 1), null);
  assert.ok((forecastOf(snapshot([one], want), want, 2)?.at ?? 0) >= UNKNOWN_END);
});

test('[A23] behind what has no time limit and waits, or is stopped, no end is guessed either', () => {
  const one: NodeWords = { name: 'n1', cpus: 4, memory: 4, used: { cpus: 4 }, until: 1000 };
  const want = [{ cpus: 4 }, { cpus: 4 }, { cpus: 4 }, { cpus: 4, time: 1000 }];
  const stopped = stoppedOn([one], [{ at: 0, cpus: 4, timeLeftMs: 1 }]);
  const endless = stopped.map((task) => ({ ...task, timeLeftMs: null }));
  const times = (list: readonly Stopped[]) =>
    want.map((_, at) => {
      const shot = snapshot([one], want, { policy: 'easy', stopped: list });
      const foretold = forecastOf(shot, want, at + 1);
      assert.deepEqual(foretold?.nodes, ['n1']);
      const { at: when } = foretold;
      return when !== null && when >= UNKNOWN_END ? 'unknown' : when;
    });
  assert.deepEqual(times([]), [1000, 'unknown', 'unknown', 'unknown']);
  assert.deepEqual(times(stopped), [1001, 'unknown', 'unknown', 'unknown']);
  assert.deepEqual(times(endless), ['unknown', 'unknown', 'unknown', 'unknown']);
});

test('[A23] a long queue before it is planned as far as the limit, and that is said', () => {
  const want = Array.from({ length: 2000 }, (_, at) => ({ cpus: 1, time: 1000 + at }));
  const shot = snapshot([{ name: 'n1', cpus: 1, memory: 1, used: { cpus: 1 }, until: 5 }], want);
  const last = forecastOf(shot, want, want.length);
  assert.equal(last?.unplannedAfter, FORECAST_TASKS_MAX);
  assert.ok((last?.at ?? 0) > 500_000);
});

test('[A23, J23] a start that takes too many looks at nodes is not worked out, be it its own or one before', () => {
  const have = Array.from({ length: 50 }, (_, at) => {
    return { name: `n${at}`, cpus: 1, memory: 1, used: { cpus: 1 }, until: 1000 + at };
  });
  const want = [
    { cpus: 1, nodes: 40, time: 1000 },
    { cpus: 1, time: 1000 },
  ];
  const foretold = (id: number, looksMax?: number) =>
    forecastOf(snapshot(have, want), want, id, looksMax);
  assert.equal(foretold(1)?.at, 1039);
  assert.deepEqual(foretold(1, 30), { at: null, nodes: [], unplannedAfter: null });
  assert.deepEqual(foretold(2, 30), { at: null, nodes: [], unplannedAfter: 1 });
});

test('the plan for all says of each task what its own forecast says', () => {
  const times = [50, 20, 30, 10] as const;
  const jobs: JobWords[] = times.map((time, at) => ({ cpus: 1 + (at % 2), time }));
  const nodes = [
    { name: 'a', cpus: 2, used: { cpus: 1 }, until: 7 },
    { name: 'b', cpus: 1 },
  ];
  const shot = () => snapshot(nodes, jobs, { policy: 'conservative' });
  const { starts, isWhole } = plannedStarts(shot(), 0);
  assert.deepEqual([isWhole, starts.map(({ jobId }) => jobId)], [true, [1, 2, 3, 4]]);
  for (const { jobId, at, nodes: where, walltimeMs } of starts) {
    const alone = forecastOf(shot(), jobs, jobId);
    assert.deepEqual([at, where], [alone?.at, alone?.nodes]);
    assert.equal(walltimeMs, times[jobId - 1]);
  }
});
