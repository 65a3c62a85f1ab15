// The schedule's geometry, usage over time, and the form of a new job.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScheduleBar } from '../../../../src/kernel/api/schedule.ts';
import { submission } from '../../../../src/kernel/api/submission.ts';
import { roundInstants } from '../../../../src/kernel/base/round-instants.ts';
import { barColours, colouringOf } from '../../../../src/kernel/page/pure/bar-colours.ts';
import { EMPTY_FORM, problemsOf, submissionOf } from '../../../../src/kernel/page/pure/job-form.ts';
import {
  barAt,
  fitting,
  layOut,
  pan,
  type RowOf,
  rowHeightOf,
  sightOf,
  zoom,
} from '../../../../src/kernel/page/pure/schedule-layout.ts';
import { stepsOf, usageCsv, usageOf } from '../../../../src/kernel/page/pure/usage.ts';

function bar(
  jobId: number,
  nodes: string[],
  [from, until]: readonly [number, number | null],
  cpuCount?: number,
): ScheduleBar {
  return {
    kind: 'running',
    id: String(jobId),
    jobId,
    name: 'x',
    owner: 'alice',
    nodes,
    from,
    until,
    word: 'running',
    ...(cpuCount === undefined ? {} : { cpuCount }),
  };
}

const nodes = [
  { name: 'a', cpuCount: 4 },
  { name: 'b', cpuCount: 1 },
];

test('a bar is as high as its share of the cpus, and nothing overlaps', () => {
  const bars = [
    bar(1, ['a', 'b'], [0, 10], 1),
    bar(2, ['a'], [5, 15], 2),
    bar(3, ['a'], [10, null], 1),
    bar(4, ['z'], [0, 1], 1),
  ];
  const layout = layOut(bars, nodes, 100);
  assert.deepEqual(
    layout.rows[0]?.map(({ bar: { jobId }, until, pieces }) => [jobId, until, pieces]),
    [
      [1, 10, [{ top: 0, height: 0.25 }]],
      [2, 15, [{ top: 0.25, height: 0.5 }]],
      [3, 60_010, [{ top: 0, height: 0.25 }]],
    ],
  );
  assert.deepEqual(layout.rows[1]?.[0]?.pieces, [{ top: 0, height: 1 }]);
  const at = (time: number, share: number) => barAt(layout, 0, { time, share })?.bar.jobId;
  assert.deepEqual([at(5, 0), at(5, 0.6), at(12, 0), at(20, 0.6)], [1, 2, 3, undefined]);
});

test('a height does not depend on what is out of sight, and whole nodes are whole', () => {
  const later = Array.from({ length: 40 }, (_, at) => bar(at + 9, ['a'], [1000 + at, 2000], 1));
  const [first] = layOut([bar(1, ['a'], [0, 10], 2), ...later], nodes, 100).rows[0] ?? [];
  assert.deepEqual(first?.pieces, [{ top: 0, height: 0.5 }]);
  const [whole] = layOut([bar(1, ['a'], [0, 10])], nodes, 100).rows[0] ?? [];
  assert.deepEqual(whole?.pieces, [{ top: 0, height: 1 }]);
});

test('where no gap is high enough a bar has pieces, and what is too much is still shown', () => {
  const bars = [
    ...[1, 2, 3, 4].map((id) => bar(id, ['a'], [0, id % 2 === 0 ? 100 : 10], 1)),
    bar(5, ['a'], [20, 30], 2),
    bar(6, ['a'], [22, 30], 2),
  ];
  const row = layOut(bars, nodes, 100).rows[0] ?? [];
  assert.deepEqual(row[4]?.pieces, [
    { top: 0, height: 0.25 },
    { top: 0.5, height: 0.25 },
  ]);
  assert.equal(row[5]?.pieces.length, 1, 'by what is told the node has no cpu left');
  const huge = [{ name: 'a', cpuCount: 10_000 }];
  const [thin] = layOut([bar(1, ['a'], [0, 1], 1)], huge, 1).rows[0] ?? [];
  assert.equal(thin?.pieces[0]?.height, 1 / 256);
});

test('rows are as high as fits, or high enough for the name of a task with one cpu', () => {
  assert.equal(rowHeightOf(nodes, 600, false), 72);
  assert.equal(
    rowHeightOf(
      Array.from({ length: 100 }, () => nodes[0] as RowOf),
      600,
      false,
    ),
    18,
  );
  assert.equal(rowHeightOf([{ name: 'a', cpuCount: 16 }], 600, true), 243);
  const wide = (text: string): number => text.length;
  assert.equal(fitting(['204 solver-live', 'solver-live', '204'], 15, wide), '204 solver-live');
  assert.equal(fitting(['204 solver-live', 'solver-live', '204'], 12, wide), 'solver-live');
  assert.equal(fitting(['204 solver-live', 'solver-live', '204'], 5, wide), '204');
  assert.equal(fitting(['a-long-node-name'], 8, wide), 'a-long-…');
  assert.equal(fitting(['204 x', '204'], 2, wide), null);
});

test('bars have the colour of their state, their user or their job', () => {
  const bars = ['zoe', 'anna', 'zoe'].map((owner, at) => ({
    ...bar(at + 1, ['a'], [0, 1]),
    owner,
  }));
  const [zoe, anna] = bars as [ScheduleBar, ScheduleBar];
  const byUser = barColours(bars, 'user');
  assert.deepEqual(
    byUser.users.map(([name]) => name),
    ['anna', 'zoe'],
  );
  assert.notEqual(byUser.of(zoe), byUser.of(anna));
  assert.equal(byUser.of(bars[2] as ScheduleBar), byUser.of(zoe));
  const byJob = barColours(bars, 'job');
  assert.equal(new Set(bars.map(byJob.of)).size, 3);
  const byState = barColours(bars, 'state');
  assert.deepEqual([byState.of(zoe), byState.of({ ...zoe, kind: 'planned' })], ['run', 'wait']);
  assert.equal(colouringOf('nonsense'), 'state');
});

test('a sight stands in an address, and any text there is none or one', () => {
  assert.deepEqual(sightOf('1000', '61000'), { from: 1000, until: 61_000 });
  for (const [from, until] of [
    ['', ''],
    ['a', '5'],
    ['61000', '1000'],
    ['0', '1'],
    ['-5', '1e9'],
  ])
    assert.equal(sightOf(from as string, until as string), null);
});

test('zooming keeps the instant under the pointer, panning the span', () => {
  const sight = { from: 0, until: 100_000 };
  assert.deepEqual(zoom(sight, 0.5, 0.2), { from: 10_000, until: 60_000 });
  const nearest = zoom(sight, 0.0001, 0.5);
  assert.equal(nearest.until - nearest.from, 10_000);
  assert.deepEqual(pan(sight, 0.1), { from: 10_000, until: 110_000 });
  const hour = 3_600_000;
  assert.deepEqual(roundInstants({ from: 1, until: 4 * hour }, 5, 0), [
    hour,
    2 * hour,
    3 * hour,
    4 * hour,
  ]);
  assert.deepEqual(roundInstants({ from: 0, until: 24 * hour }, 2, 2 * hour), [
    10 * hour,
    22 * hour,
  ]);
});

test('usage is put into its steps, and the largest comes first', () => {
  const hour = 3_600_000;
  const steps = stepsOf(148 * hour, 48 * hour);
  assert.deepEqual(steps, { from: 100 * hour, until: 148 * hour, stepMs: hour });
  assert.equal(stepsOf(hour, 60_000).stepMs, 60_000);
  const row = (key: string, step: number, cpuHours: number) => ({
    key,
    from: steps.from + step * hour,
    starts: 3,
    tasks: 2,
    cpuHours,
    gibHours: 1,
    usedCpuHours: cpuHours / 2,
  });
  const used = usageOf([row('a', 0, 1), row('b', 0, 2), row('a', 47, 4)], steps);
  assert.deepEqual(used.rows, [
    { name: 'a', tasks: 4, cpuHours: 5, usedCpuHours: 2.5, gpuHours: 0 },
    { name: 'b', tasks: 2, cpuHours: 2, usedCpuHours: 1, gpuHours: 0 },
  ]);
  assert.deepEqual([used.times.length, used.times[47]], [48, 147 * hour]);
  const [first] = used.series;
  assert.deepEqual([first?.values.length, first?.values[0], first?.values[47]], [48, 1, 4]);
  const rows = [{ name: '=1+"x",y', tasks: 1, cpuHours: 0.5, usedCpuHours: 0.25, gpuHours: 2 }];
  const csv = `user,tasks,cpu_hours,used_cpu_hours,gpu_hours\n"'=1+""x"",y",1,0.500,0.250,2.000\n`;
  assert.equal(usageCsv(rows, 'user'), csv);
});

test('the form says what is wrong, and what is right becomes a submission', () => {
  assert.deepEqual(Object.keys(problemsOf(EMPTY_FORM)), ['command']);
  const wrong = { ...EMPTY_FORM, command: 'x', nodes: '0', memory: 'lots', time: '9', array: 'a' };
  const found = Object.keys(problemsOf({ ...wrong, chdir: 'here' }));
  assert.deepEqual(found, ['nodes', 'memory', 'time', 'array', 'chdir']);
  const form = { ...EMPTY_FORM, command: 'echo', memory: '1G', time: 'none', array: '0-9%2' };
  assert.deepEqual(problemsOf(form), {});
  const made = submissionOf({ ...form, name: ' n ', chdir: '/tmp', partition: 'p' });
  assert.deepEqual(submission.parse(made), {
    program: { kind: 'shell', line: 'echo' },
    directory: { kind: 'shared', path: '/tmp' },
    name: 'n',
    memoryBytes: 1024 ** 3,
    walltimeMs: null,
    partition: 'p',
    array: { indices: '0-9', runningMax: 2 },
  });
});
