// The shelf on SQLite, and a head's samples on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { State } from '../../../../src/kernel/machine/state.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Clock } from '../../../../src/kernel/ports/clock.ts';
import { writeLooks } from '../../../../src/wings/samples/core/said.ts';
import { Samples } from '../../../../src/wings/samples/head/samples.ts';
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

function world() {
  const head = new TestHead();
  head.connect('n1', { cpus: 4 });
  const id = head.running({ cpuCount: 2 });
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
  assert.deepEqual(later.byOwner(0), [
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
