// Samples as bytes, as curves, and as agents tell them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack, unpack } from '../../../../src/wings/samples/core/column.ts';
import { amountOf, codeOf, NOTHING } from '../../../../src/wings/samples/core/level-code.ts';
import { Merged } from '../../../../src/wings/samples/core/merged.ts';
import { readLooks, writeLooks } from '../../../../src/wings/samples/core/said.ts';
import { CURVE_STEPS_MAX, TaskCurve } from '../../../../src/wings/samples/core/task-curve.ts';
import { gridFor, LEVELS, levelFor, Track } from '../../../../src/wings/samples/core/track.ts';
import { pointsOf, usedBy, withLive } from '../../../../src/wings/samples/core/used.ts';
import type { Chunk, JobSums } from '../../../../src/wings/samples/model/chunk.ts';
import { LOOK_MS, LOOKS_KEPT_MAX, type Look } from '../../../../src/wings/samples/model/look.ts';

/** Numbers from 0 to 1 that look random, the same each time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test('an amount comes back within a hundredth', () => {
  for (const amount of [1, 7, 999, 123_456, 2 ** 40 + 3]) {
    const back = amountOf(codeOf(amount)) ?? 0;
    assert.ok(Math.abs(back - amount) / amount < 0.01, `${amount} is ${back}`);
  }
  assert.equal(amountOf(codeOf(0)), 0);
  assert.equal(amountOf(NOTHING), null);
});

test('a column comes back as it was, and nonsense ends it', () => {
  const next = dice(1);
  for (let round = 0; round < 200; round += 1) {
    const codes = Array.from({ length: Math.floor(next() * 400) }, () => {
      const kind = next();
      return kind < 0.3 ? NOTHING : kind < 0.6 ? 700 : Math.floor(next() * 2000);
    });
    assert.deepEqual(unpack(pack(codes)), codes);
  }
  assert.deepEqual(unpack(Uint8Array.from([0, 255, 255, 255, 255, 255])).length, 100_000);
  assert.ok(unpack(Uint8Array.from([200, 200, 200])).length <= 1);
});

test('[V12] a sample costs less than two bytes, whatever happens', () => {
  const next = dice(7);
  let busy = 800;
  const kinds: Readonly<Record<string, () => number>> = {
    idle: () => 3,
    steady: () => 1900 + next() * 200,
    wandering: () => {
      busy = Math.max(1, busy * (0.7 + next() * 0.6));
      return busy;
    },
    wild: () => next() * 64_000,
  };
  for (const [name, amount] of Object.entries(kinds)) {
    const codes = Array.from({ length: 8640 }, () => codeOf(amount()));
    const each = pack(codes).length / codes.length;
    assert.ok(each < 2, `${name}: ${each.toFixed(2)} bytes`);
  }
});

/** What is kept of a track, as a shelf has it. */
class Kept {
  readonly chunks = new Map<string, Uint8Array>();

  put(all: readonly Chunk[]): void {
    for (const { line, start, bytes } of all) this.chunks.set(`${line}/${start}`, bytes);
  }

  readonly earlier = (line: number, start: number) => this.chunks.get(`${line}/${start}`) ?? null;
}

test('[V12] a figure has each look, means and peaks of minutes and of ten minutes', () => {
  const kept = new Kept();
  const track = new Track();
  const begin = 600_000 * 1_000_000;
  for (let look = 0; look < 360; look += 1) {
    const at = begin + look * LOOK_MS;
    kept.put(track.add(at, look % 6 === 0 ? 6000 : 0, kept.earlier));
  }
  kept.put(track.grown());
  const points = (line: number) => {
    const rows = [...kept.chunks].filter(([key]) => key.startsWith(`${line}/`));
    return rows.flatMap(([, bytes]) => pointsOf(bytes)).filter((point) => point !== null);
  };
  assert.equal(points(0).length, 360);
  const near = (found: number | undefined, wanted: number) =>
    assert.ok(Math.abs((found ?? 0) - wanted) < wanted / 50, `${found} is ${wanted}`);
  assert.equal(points(1).length, 59, 'the last minute is not over');
  near(points(1)[0], 1000);
  near(points(2)[0], 6000);
  near(points(3)[0], 1000);
  near(points(4)[0], 6000);
});

test('[V12] a track that begins again goes on in the chunk that was written half', () => {
  const kept = new Kept();
  const begin = 3_600_000 * 100;
  const first = new Track();
  for (let look = 0; look < 10; look += 1)
    kept.put(first.add(begin + look * LOOK_MS, 500, kept.earlier));
  kept.put(first.grown());
  const second = new Track();
  for (let look = 20; look < 30; look += 1)
    kept.put(second.add(begin + look * LOOK_MS, 500, kept.earlier));
  kept.put(second.grown());
  const points = pointsOf(kept.chunks.get(`0/${begin / LOOK_MS}`) ?? new Uint8Array());
  assert.equal(points.length, 30);
  assert.equal(points.filter((point) => point === null).length, 10, 'nobody looked in between');
});

test('what is far back is seen in longer steps', () => {
  const now = 1_000_000_000_000;
  const step = (agoMs: number) => levelFor(now - agoMs, now, 1500).stepMs;
  assert.equal(step(3_600_000), 10_000);
  assert.equal(step(20 * 3_600_000), 60_000);
  assert.equal(step(7 * 86_400_000), 600_000);
  assert.equal(step(900 * 86_400_000), LEVELS.at(-1)?.stepMs);
});

test('[V12] a range of more steps than an answer may have is shown whole, in longer steps', () => {
  const now = 1_764_000_000_123;
  for (const days of [0, 0.02, 0.17, 1, 1.04, 10.5, 30, 200, 365, 9000]) {
    const from = now - days * 86_400_000;
    const { level, first, merged, count } = gridFor(from, now, 1500);
    const ends = (first + count * merged) * level.stepMs;
    assert.ok(count >= 1 && count <= 1500, `${days} days: ${count} steps`);
    assert.ok(ends > now && ends - now <= merged * level.stepMs, `${days} days end now`);
    assert.ok(first * level.stepMs <= Math.max(from, now - level.keepMs), `${days} days begin`);
  }
  assert.deepEqual(gridFor(now + 5000, now, 1500).count, 1, 'nothing of what is to come');
  assert.equal(gridFor(now - 30 * 86_400_000, now, 1500).merged, 3);
});

test('[V12] of steps that are joined the mean and the peak are shown', () => {
  const [level] = LEVELS as [(typeof LEVELS)[number]];
  const merged = new Merged({ level, first: 3, merged: 3, count: 3 });
  merged.add(0, [9, 9, 9, 1000, 4000, 0, 0].map(codeOf));
  merged.add(7, [NOTHING, NOTHING, NOTHING, codeOf(64), NOTHING, NOTHING]);
  const near = (point: number | null | undefined, wanted: number) =>
    assert.ok(Math.abs((point ?? 0) - wanted) <= wanted / 50, `${point} is ${wanted}`);
  near(merged.means()[0], 5000 / 3);
  near(merged.peaks()[0], 4000);
  assert.deepEqual([merged.means()[1], merged.peaks()[1]], [0, 0]);
  near(merged.means()[2], 64);
  assert.deepEqual(merged.means().length, 3);
});

const NOT_WRITTEN: JobSums = {
  parts: 0,
  from: 0,
  stepMs: 0,
  looks: 0,
  cpuMilliAsked: 0,
  cpuMilliSum: 0,
  cpuMilliPeak: 0,
  memoryBytesAsked: 0,
  memoryBytesSum: 0,
  memoryBytesPeak: 0,
  gpuMilliAsked: 0,
  gpuMilliSum: 0,
  readBytes: 0,
  writtenBytes: 0,
  gpuMilliPeak: 0,
};

const NAME = {
  jobId: 42,
  epochId: '42#1',
  node: 'n1',
  owner: 'ann',
  cpuMilliAsked: 4000,
  memoryBytesAsked: 2 ** 30,
  gpuMilliAsked: 2000,
  cards: 'GPU-a,GPU-b',
};

test('[V13] a task has means, peaks and a curve that never grows beyond its bound', () => {
  const curve = new TaskCurve(NAME, 0);
  for (let look = 0; look < 10_000; look += 1) {
    curve.add(look * LOOK_MS, {
      cpuMilli: look % 2 === 0 ? 4000 : 0,
      memoryBytes: 1000 + look,
      gpuMilli: look % 4 === 0 ? null : 1000,
    });
  }
  assert.equal(
    curve.add(5, { cpuMilli: 9, memoryBytes: 9, gpuMilli: 9 }),
    false,
    'older than the last',
  );
  const row = curve.row();
  assert.ok(row.cpu.length + row.memory.length < 4 * CURVE_STEPS_MAX);
  assert.ok(pointsOf(row.cpu).length <= CURVE_STEPS_MAX);
  assert.equal(row.looks, 10_000);
  const used = usedBy(withLive(NOT_WRITTEN, [curve]), row);
  assert.deepEqual(
    [used?.cpuMilli.mean, used?.cpuMilli.peak, used?.memoryBytes.mean, used?.memoryBytes.peak],
    [2000, 4000, 6000, 10_999],
  );
  assert.deepEqual(
    [used?.gpuMilli?.asked, used?.gpuMilli?.mean, used?.gpuMilli?.peak],
    [2000, 750, 1000],
  );
  const sums = withLive(NOT_WRITTEN, [curve]);
  assert.equal(usedBy({ ...sums, gpuMilliAsked: 0 }, row)?.gpuMilli, null, 'it has no gpus');
  assert.equal(usedBy(NOT_WRITTEN, null), null);
  const both = usedBy({ ...sums, parts: 2, looks: 20_000 }, null);
  assert.deepEqual([both?.parts, both?.cpuMilli.mean, both?.cpuMilli.curve], [2, 1000, []]);
});

test('[V13] a task that is seen again goes on with its sums, its peaks and its curve', () => {
  const use = (look: number) => ({ cpuMilli: 100 + look, memoryBytes: 1000, gpuMilli: 500 });
  const whole = new TaskCurve(NAME, 0);
  let again = new TaskCurve(NAME, 0);
  for (let look = 0; look < 1000; look += 1) {
    if (look % 130 === 129) again = TaskCurve.after(again.row(), NAME);
    assert.ok(whole.add(look * LOOK_MS, use(look)) && again.add(look * LOOK_MS, use(look)));
  }
  assert.deepEqual(again.figures(), whole.figures());
  const [wanted, found] = [pointsOf(whole.row().cpu), pointsOf(again.row().cpu)];
  assert.equal(found.length, wanted.length);
  found.forEach((point, at) => {
    assert.ok(Math.abs((point ?? 0) - (wanted[at] ?? 0)) <= (wanted[at] ?? 0) / 20, `step ${at}`);
  });
  assert.equal(again.add(5, use(5)), false, 'older than what is written');
});

test('[V13] what is not written yet is added to what is', () => {
  const use = { cpuMilli: 100, memoryBytes: 50, gpuMilli: null };
  const [first, second] = [new TaskCurve(NAME, 0), new TaskCurve({ ...NAME, node: 'n2' }, 0)];
  first.add(0, use);
  const row = first.row();
  first.wrote(row);
  first.add(LOOK_MS, { ...use, cpuMilli: 900 });
  second.add(0, use);
  const sums = withLive({ ...NOT_WRITTEN, ...first.figures(), ...row, parts: 1 }, [first, second]);
  assert.deepEqual(
    [sums.parts, sums.looks, sums.cpuMilliSum, sums.cpuMilliPeak, sums.memoryBytesSum],
    [2, 3, 1100, 900, 150],
  );
});

test('[V11] what an agent says comes back, and nonsense is nothing', () => {
  const task = { epochId: '42#1', cpuMilli: 7, memoryBytes: 8, gpuMilli: null };
  const looks: readonly [Look, Look] = [
    { at: 100, node: { cpuMilli: 5, memoryBytes: 6 }, tasks: [], gpus: [] },
    {
      at: 110,
      node: null,
      tasks: [task, { ...task, gpuMilli: 500 }],
      gpus: [
        { number: 1, busyPercent: 50, memoryBytes: 9 },
        { number: 2, busyPercent: 0, memoryBytes: 9, watts: 300, celsius: 71 },
        { number: 3, busyPercent: 0, memoryBytes: 9, celsius: -5 },
      ],
    },
  ];
  assert.deepEqual(readLooks(writeLooks(looks, 120.25), 1120), [
    { ...looks[0], at: 1100 },
    { ...looks[1], at: 1110 },
  ]);
  const wrong: readonly unknown[] = [
    null,
    {},
    { looks: 7 },
    { looks: [7] },
    { looks: [[-1, null, []]] },
    { looks: [[0, [1], []]] },
    { looks: [[0, [1, -1], []]] },
    { looks: [[0, [0.5, 1], []]] },
    { looks: [[0, null, [], 7]] },
    { looks: [[0, null, [], [[0, 101, 1]]]] },
    { looks: [[0, null, [], [[0, 1]]]] },
    { looks: Array.from({ length: LOOKS_KEPT_MAX + 1 }, () => [0, null, []]) },
  ];
  for (const said of wrong)
    assert.equal(readLooks(said, 0), null, JSON.stringify(said)?.slice(0, 60));
});

test('[V11] a task that cannot be read leaves the others as they are', () => {
  const tasks = [
    ['42#1', 1, Number.NaN],
    [42, 1, 1],
    ['x'.repeat(65), 1, 1],
    ['42#1', 1, 1, -1],
    ['42#1', 100_000_001, 1],
    ['43#1', 7, 8],
  ];
  const looks = readLooks({ looks: [[0, [5, 6], tasks]] }, 0);
  assert.deepEqual(looks?.[0]?.tasks, [
    { epochId: '43#1', cpuMilli: 7, memoryBytes: 8, gpuMilli: null },
  ]);
  assert.deepEqual(looks?.[0]?.node, { cpuMilli: 5, memoryBytes: 6 });
});

test('[V12] of figures that need no peaks only means are kept', () => {
  const kept = new Kept();
  const track = new Track({ hasPeaks: false });
  for (let look = 0; look < 500; look += 1) kept.put(track.add(look * LOOK_MS, 70, kept.earlier));
  kept.put(track.grown());
  const lines = new Set([...kept.chunks.keys()].map((key) => key.split('/')[0]));
  assert.deepEqual([...lines].sort(), ['0', '1', '3']);
});

test('[V11] what an agent says of disks, power and heat is read with care', () => {
  const disk = { readBytes: 5, writtenBytes: 6 };
  const flow = { readRate: 1, writtenRate: 2, receivedRate: 3, sentRate: 4 };
  const gpu = { number: 0, busyPercent: 1, memoryBytes: 2 };
  const look: Look = {
    at: 0,
    node: { cpuMilli: 7, memoryBytes: 8, flow },
    tasks: [{ epochId: '1#1', cpuMilli: 1, memoryBytes: 2, gpuMilli: null, disk }],
    gpus: [
      { ...gpu, slowedBy: 'power' },
      { ...gpu, number: 1, watts: 5 },
      { ...gpu, number: 2, slowedBy: null },
      { ...gpu, number: 3, correctedErrors: 17 },
      { ...gpu, number: 4, slowedBy: null, correctedErrors: 0 },
    ],
  };
  assert.deepEqual(readLooks(writeLooks([look], 0), 0), [look]);
  const wild = [-1, 1.5, '7', null, {}, 1e300, 'length', '__proto__'];
  for (const value of wild) {
    const rows = [
      [7, 8, 1, 2, 3, value],
      [['1#1', 1, 2, null, 5, value]],
      [[0, 1, 2, null, null, value, value]],
    ];
    assert.deepEqual(readLooks({ looks: [[0, ...rows]] }, 0), [
      {
        at: 0,
        node: { cpuMilli: 7, memoryBytes: 8 },
        tasks: [{ epochId: '1#1', cpuMilli: 1, memoryBytes: 2, gpuMilli: null }],
        gpus: [gpu],
      },
    ]);
  }
});
