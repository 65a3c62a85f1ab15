// The schedule's geometry, usage over time, and the form of a new job.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_FORM, problemsOf, submissionOf } from '../../../dashboard/pure/job-form.ts';
import { barAt, layOut, pan, zoom } from '../../../dashboard/pure/schedule-layout.ts';
import { stepsOf, usageCsv, usageOf } from '../../../dashboard/pure/usage.ts';
import type { ScheduleBar } from '../../../src/api/schedule.ts';
import { submission } from '../../../src/api/submission.ts';
import { roundInstants } from '../../../src/core/base/round-instants.ts';

function bar(jobId: number, nodes: string[], from: number, until: number | null): ScheduleBar {
  return {
    ...{ kind: 'running', id: String(jobId), jobId, name: 'x', owner: 'alice', nodes },
    ...{ from, until, word: 'running' },
  };
}

test('what runs side by side on a node lies side by side, and nothing overlaps', () => {
  const bars = [
    bar(1, ['a', 'b'], 0, 10),
    bar(2, ['a'], 5, 15),
    bar(3, ['a'], 10, null),
    bar(4, ['z'], 0, 1),
  ];
  const layout = layOut(bars, ['a', 'b'], 100);
  assert.deepEqual([...layout.lanes], [2, 1]);
  assert.deepEqual(
    layout.rows[0]?.map((one) => [one.bar.jobId, one.lane, one.until]),
    [
      [1, 0, 10],
      [2, 1, 15],
      [3, 0, 60_010],
    ],
  );
  const at = (time: number, share: number) => barAt(layout, 0, { time, share })?.bar.jobId;
  assert.deepEqual([at(5, 0), at(5, 0.6), at(12, 0), at(20, 0.6)], [1, 2, 3, undefined]);
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
    ...{ key, from: steps.from + step * hour, starts: 3, tasks: 2, cpuHours },
    ...{ gibHours: 1, usedCpuHours: cpuHours / 2 },
  });
  const used = usageOf([row('a', 0, 1), row('b', 0, 2), row('a', 47, 4)], steps);
  assert.deepEqual(used.rows, [
    { name: 'a', tasks: 4, cpuHours: 5, usedCpuHours: 2.5 },
    { name: 'b', tasks: 2, cpuHours: 2, usedCpuHours: 1 },
  ]);
  assert.deepEqual([used.times.length, used.times[47]], [48, 147 * hour]);
  const [first] = used.series;
  assert.deepEqual([first?.values.length, first?.values[0], first?.values[47]], [48, 1, 4]);
  const rows = [{ name: '=1+"x",y', tasks: 1, cpuHours: 0.5, usedCpuHours: 0.25 }];
  const csv = `user,tasks,cpu_hours,used_cpu_hours\n"'=1+""x"",y",1,0.500,0.250\n`;
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
    ...{ program: { kind: 'shell', line: 'echo' }, directory: { kind: 'shared', path: '/tmp' } },
    ...{ name: 'n', nodeCount: 1, cpuCount: 1, memoryBytes: 1024 ** 3, walltimeMs: null },
    ...{ partition: 'p', array: { indices: '0-9', runningMax: 2 } },
  });
});
