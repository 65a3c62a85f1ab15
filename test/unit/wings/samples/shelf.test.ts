// The shelf on SQLite, and a head's samples on it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { State } from '../../../../src/kernel/machine/state.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Clock } from '../../../../src/kernel/ports/clock.ts';
import { writeLooks } from '../../../../src/wings/samples/core/said.ts';
import { Samples } from '../../../../src/wings/samples/head/samples.ts';
import type { TaskRow } from '../../../../src/wings/samples/model/chunk.ts';
import { LOOK_MS, type Look } from '../../../../src/wings/samples/model/look.ts';
import { sqliteShelf } from '../../../../src/wings/samples/store/sqlite-shelf.ts';
import { TestHead } from '../../../support/controller.ts';

const N1 = 'n1' as NodeName;

/** A clock that stands until it is set. */
function clockAt(begin: number): Clock & { at: number } {
  const clock = {
    at: begin,
    now: () => clock.at,
    monotonic: () => clock.at,
    after: () => ({ cancel: () => undefined }),
    soon: () => undefined,
  };
  return clock as unknown as Clock & { at: number };
}

const LOG = { debug() {}, info() {}, warn() {}, error() {} };

function world(wish: Parameters<TestHead['running']>[0] = { cpuCount: 2 }) {
  const head = new TestHead();
  head.connect('n1', { cpus: 4 });
  const id = head.running(wish);
  const clock = clockAt(3_600_000 * 1000);
  const shelf = sqliteShelf(':memory:');
  const samples = new Samples(shelf, clock, LOG);
  const look = (of: Partial<Look>) => {
    clock.at += LOOK_MS;
    const all = [{ at: clock.at, node: null, tasks: [], gpus: [], ...of }];
    samples.hear(head.state as State, N1, writeLooks(all, clock.at));
  };
  return { head, id, clock, shelf, samples, look };
}

test('[V13] a job shows what it used while it runs, when it is over, and after a restart', () => {
  const { head, id, clock, shelf, samples, look } = world();
  for (let count = 0; count < 6; count += 1) {
    look({
      tasks: [
        { epochId: `${id}#1`, cpuMilli: 500 * (count % 2), memoryBytes: 1000, gpuMilli: null },
      ],
    });
  }
  const used = samples.jobUse(id);
  assert.deepEqual(
    [used?.parts, used?.cpuMilli.asked, used?.cpuMilli.mean, used?.cpuMilli.peak],
    [1, 2000, 250, 500],
  );
  assert.equal(used?.memoryBytes.curve.length, 6);
  head.ended(`${id}#1`);
  samples.flush(head.state);
  const later = new Samples(shelf, clock, LOG);
  assert.deepEqual(later.jobUse(id), used);
  assert.equal(later.jobUse(id + 1), null);
  assert.deepEqual(later.byOwner(0, null), [
    {
      owner: 'ann',
      tasks: 1,
      looks: 6,
      cpuMilliAsked: 12_000,
      cpuMilliUsed: 1500,
      memoryBytesAsked: used === null ? 0 : used.memoryBytes.asked * 6,
      memoryBytesUsed: 6000,
      gpuMilliAsked: 0,
      gpuMilliUsed: 0,
    },
  ]);
});

test('[V11] a node speaks of its own tasks only', () => {
  const { head, samples, look } = world();
  look({ tasks: [{ epochId: '7#1', cpuMilli: 500, memoryBytes: 1, gpuMilli: null }] });
  assert.equal(samples.jobUse(7), null);
  const said = writeLooks(
    [{ at: 0, node: { cpuMilli: 1, memoryBytes: 1 }, tasks: [], gpus: [] }],
    0,
  );
  samples.hear(head.state, 'n9' as NodeName, said);
  assert.deepEqual(
    [...samples.latest()].map(([name]) => name),
    [N1],
  );
  samples.hear(head.state, N1, { looks: 'many' });
});

test("[V12] a node's curve is there at once, after a restart, and is forgotten in time", () => {
  const { head, clock, shelf, samples, look } = world();
  const begin = clock.at;
  for (let count = 0; count < 30; count += 1) look({ node: { cpuMilli: 2000, memoryBytes: 4096 } });
  const points = (of: Samples) => {
    const { cpu, stepMs } = of.nodeCurves(N1, begin);
    assert.equal(stepMs, LOOK_MS);
    return cpu.mean.filter((point) => point !== null).length;
  };
  assert.equal(points(samples), 30);
  const seen = [...samples.latest()].map(([name, { node }]) => [name, node]);
  assert.deepEqual(seen, [[N1, { cpuMilli: 2000, memoryBytes: 4096 }]]);
  clock.at += 60_000;
  samples.tick(head.state);
  const later = new Samples(shelf, clock, LOG);
  assert.equal(points(later), 30);
  clock.at += 3 * 86_400_000;
  later.flush(head.state);
  assert.deepEqual(shelf.chunks('n1/cpu', 0, 0, Number.MAX_SAFE_INTEGER), []);
  assert.equal(shelf.chunks('n1/cpu', 1, 0, Number.MAX_SAFE_INTEGER).length, 1);
  later.close();
});

test('[V12] the oldest tasks go when there are too many', () => {
  const { id, samples, look, shelf, head } = world();
  look({ tasks: [{ epochId: `${id}#1`, cpuMilli: 1, memoryBytes: 1, gpuMilli: null }] });
  samples.flush(head.state);
  shelf.dropTasks(0, 1);
  assert.equal(shelf.tasksOf(id, 10).length, 1);
  shelf.dropTasks(0, 0);
  assert.equal(shelf.tasksOf(id, 10).length, 0);
});

test('[V12] each gpu of a node has its curves', () => {
  const { clock, samples, look } = world();
  const begin = clock.at;
  const gpus = [0, 3].map((number) => ({ number, busyPercent: 50 + number, memoryBytes: 1000 }));
  for (let count = 0; count < 5; count += 1) look({ gpus });
  const curves = samples.nodeCurves(N1, begin).gpus;
  assert.deepEqual(
    curves.map(({ number, busyPercent }) => [number, busyPercent.mean.filter(Boolean).at(-1)]),
    [
      [0, 50],
      [3, 53],
    ],
  );
});

const use = (epochId: string, cpuMilli: number) => ({
  epochId,
  cpuMilli,
  memoryBytes: 1000,
  gpuMilli: null,
});

test('[V13] after a silence, or a restart of the head, a task goes on with what it used before', () => {
  const { head, id, clock, shelf, samples, look } = world();
  const begin = clock.at + LOOK_MS;
  const tell = (cpuMilli: number) => look({ tasks: [use(`${id}#1`, cpuMilli)] });
  for (const cpuMilli of [800, 0, 100]) tell(cpuMilli);
  samples.flush(head.state);
  clock.at += 600_000;
  samples.flush(head.state);
  tell(100);
  const seen = (of: Samples) => {
    const used = of.jobUse(id);
    return [used?.parts, used?.from, used?.cpuMilli.mean, used?.cpuMilli.peak];
  };
  assert.deepEqual(seen(samples), [1, begin, 250, 800]);
  samples.flush(head.state);
  assert.equal(shelf.tasksOf(id, 9)[0]?.looks, 4);
  const later = new Samples(shelf, clock, LOG);
  clock.at += LOOK_MS;
  const all = [{ at: clock.at, node: null, tasks: [use(`${id}#1`, 0)], gpus: [] }];
  later.hear(head.state, N1, writeLooks(all, clock.at));
  assert.deepEqual(seen(later), [1, begin, 200, 800]);
});

test('[V13] a job that has a node to itself is measured by the whole node', () => {
  const { id, samples, look } = world({ cpuCount: 1, exclusive: true });
  look({ tasks: [use(`${id}#1`, 500)] });
  assert.equal(samples.jobUse(id)?.cpuMilli.asked, 4000);
});

const ROW: TaskRow = {
  jobId: 7,
  epochId: '7#1',
  node: 'n1',
  owner: 'ann',
  from: 1000,
  until: 5000,
  looks: 8,
  cpuMilliAsked: 1000,
  cpuMilliSum: 4000,
  cpuMilliPeak: 900,
  memoryBytesAsked: 10,
  memoryBytesSum: 40,
  memoryBytesPeak: 9,
  gpuMilliAsked: 0,
  gpuMilliSum: 0,
  readBytes: 0,
  writtenBytes: 0,
  gpuMilliPeak: 0,
  stepMs: LOOK_MS,
  cpu: new Uint8Array(),
  memory: new Uint8Array(),
  gpu: new Uint8Array(),
  cards: '',
};

test('[V13] sums of a job of many tasks are over all of them, beside what is not written yet', () => {
  const { id, samples, look, shelf } = world();
  const rows = Array.from({ length: 3000 }, (_, at) => {
    const name = { jobId: id, epochId: `${id}.${at}#1`, looks: 1 };
    return { ...ROW, ...name, cpuMilliSum: 500, cpuMilliPeak: at === 1234 ? 3000 : 500 };
  });
  shelf.put([], rows);
  look({ tasks: [use(`${id}#1`, 500)] });
  const used = samples.jobUse(id);
  assert.deepEqual(
    [used?.parts, used?.cpuMilli.mean, used?.cpuMilli.peak, used?.cpuMilli.curve],
    [3001, 500, 3000, []],
  );
});

test('[V13] of a task that began before, the part since then counts; and everybody gets their own', () => {
  const shelf = sqliteShelf(':memory:');
  shelf.put([], [ROW, { ...ROW, jobId: 8, owner: 'ben', from: 5000 }]);
  const seen = (since: number, owner: string | null) =>
    shelf
      .byOwner(since, owner)
      .map((row) => [row.owner, row.tasks, row.looks, row.cpuMilliAsked, row.cpuMilliUsed]);
  assert.deepEqual(seen(0, 'ann'), [['ann', 1, 8, 8000, 4000]]);
  assert.deepEqual(seen(4000, null), [
    ['ann', 1, 2, 2000, 1000],
    ['ben', 1, 8, 8000, 4000],
  ]);
  assert.deepEqual(seen(5001, null), []);
  shelf.close();
});

test('[V12] old chunks are dropped some series at a time, until all are done', () => {
  const { head, clock, samples, shelf } = world();
  const bytes = Uint8Array.from([1]);
  const series = Array.from({ length: 120 }, (_, at) => `m${at}/cpu`);
  shelf.put(
    series.map((name) => ({ series: name, line: 0, start: 1, bytes })),
    [],
  );
  const left = () => series.filter((name) => shelf.chunk(name, 0, 1) !== null).length;
  clock.at += 3 * 86_400_000;
  samples.flush(head.state);
  assert.equal(left(), 70);
  samples.tick(head.state);
  assert.equal(left(), 20);
  samples.tick(head.state);
  assert.equal(left(), 0);
  samples.tick(head.state);
});

test('[V12, V26] a file of release 0.2 goes on, with who has gpus from now on', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'weft-samples-')), 'samples.db');
  const old = sqliteShelf(file);
  old.put([], [ROW]);
  old.close();
  const database = new DatabaseSync(file);
  database.exec(`DROP INDEX held; DROP INDEX job_sums; PRAGMA user_version = 2;
    CREATE INDEX of_job ON tasks ("jobId", "from")`);
  for (const name of ['cards', 'readBytes', 'writtenBytes'])
    database.exec(`ALTER TABLE tasks DROP COLUMN "${name}"`);
  database.close();
  const shelf = sqliteShelf(file);
  assert.deepEqual({ ...shelf.task(7, '7#1', 'n1') }, ROW);
  const held = { ...ROW, epochId: '8#1', jobId: 8, cards: 'GPU-a,GPU-b' };
  shelf.put([], [held]);
  const { epochId, owner, from, until, cards } = held;
  assert.deepEqual(
    shelf.holders('n1', 0, 9).map((one) => ({ ...one })),
    [{ epochId, owner, from, until, cards }],
  );
  assert.deepEqual(shelf.holders('n1', until + 1, 9), []);
  assert.deepEqual(shelf.holders('n1', 0, 0), []);
  shelf.close();
  const halfway = new DatabaseSync(file);
  halfway.exec('PRAGMA user_version = 2');
  halfway.close();
  const again = sqliteShelf(file);
  assert.equal(again.holders('n1', 0, 9).length, 1, 'of a head that ended in between');
  again.close();
  rmSync(dirname(file), { recursive: true });
});

test('[V13] bytes from and to disks are summed, also by a head that starts again', () => {
  const { head, id, clock, shelf, samples, look } = world();
  const disk = { readBytes: 1000, writtenBytes: 10 };
  for (let count = 0; count < 3; count += 1) look({ tasks: [{ ...use(`${id}#1`, 5), disk }] });
  samples.flush(head.state);
  look({ tasks: [{ ...use(`${id}#1`, 5), disk }, use(`${id}#2`, 5)] });
  const bytes = (of: Samples) => [of.jobUse(id)?.readBytes, of.jobUse(id)?.writtenBytes];
  assert.deepEqual(bytes(samples), [4000, 40]);
  samples.flush(head.state);
  assert.deepEqual(bytes(new Samples(shelf, clock, LOG)), [4000, 40]);
});

test('[V12] a node has curves of its disks and networks, and of what its gpus draw', () => {
  const { head, clock, shelf, samples, look } = world();
  const flow = { readRate: 500, writtenRate: 0, receivedRate: 7, sentRate: 8 };
  const node = { cpuMilli: 100, memoryBytes: 1000, flow };
  const gpu = { number: 0, busyPercent: 50, memoryBytes: 1000 };
  for (let count = 0; count < 400; count += 1) {
    const warm = {
      watts: 300,
      celsius: 70,
      slowedBy: count % 2 === 0 ? ('heat' as const) : null,
      correctedErrors: 40,
    };
    look({ node, gpus: [{ ...gpu, ...warm }] });
  }
  samples.flush(head.state);
  const later = new Samples(shelf, clock, LOG);
  later.hear(
    head.state,
    N1,
    writeLooks([{ at: clock.at, node, tasks: [], gpus: [gpu] }], clock.at),
  );
  for (const days of [0.02, 7, 200]) {
    const { flow: seen, gpus } = later.nodeCurves(N1, clock.at - days * 86_400_000);
    const near = (points: readonly (number | null)[], wanted: number): void => {
      const known = points.filter((point) => point !== null);
      const [first = 0] = known;
      assert.ok(known.length > 0 && Math.abs(first - wanted) <= wanted / 50, `${first} ${days}`);
    };
    near(seen.read.mean, 500);
    near(seen.sent.peak, 8);
    near(gpus[0]?.watts ?? [], 300);
    near(gpus[0]?.celsius ?? [], 70);
    if (days > 1) near(gpus[0]?.slowedPercent ?? [], 50);
    near(gpus[0]?.correctedErrors ?? [], 40);
  }
  const silent = world();
  for (let count = 0; count < 400; count += 1) silent.look({ node, gpus: [gpu] });
  const [curve] = silent.samples.nodeCurves(N1, silent.clock.at - 1_200_000).gpus;
  assert.deepEqual(new Set(curve?.slowedPercent), new Set([null]), 'nobody says');
  assert.deepEqual(new Set(curve?.correctedErrors), new Set([null]));
});
