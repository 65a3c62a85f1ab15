// The page on a month: its sums, what it remarks, and the months that it takes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedOf, monthOf } from '../../../../src/wings/lab/cli/report.ts';
import { type Month, reportText, type Used } from '../../../../src/wings/lab/core/report.ts';

const used = (key: string, tasks: number, cpuHours: number, usedCpuHours: number): Used => {
  return { key, tasks, cpuHours, usedCpuHours, gibHours: 2 * cpuHours };
};
const MONTH: Month = {
  title: 'November 2026',
  cluster: 'lab',
  byUser: [used('bob', 10, 40, 4), used('ann', 90, 60, 54)],
  byOutcome: [used('failed', 25, 10, 8), used('completed', 75, 90, 50)],
  waits: [
    { owner: 'ann', waitedMs: 1000 },
    { owner: 'ann', waitedMs: 300_000 },
    { owner: 'ann', waitedMs: 7_200_000 },
  ],
  isCut: false,
};

test('[Y10] a month is one page: sums, a row for each user, outcomes, and what to look at', () => {
  assert.equal(
    reportText(MONTH),
    `# November 2026 on lab

2 users, 100 tasks: 100 cpu hours, of which 58 % were worked; 75 % of the tasks completed.

| user | tasks | cpu hours | worked | GiB hours | gpu hours | half waited | longest |
|---|---:|---:|---:|---:|---:|---:|---:|
| ann | 90 | 60 | 90 % | 120 | 0 | 5m | 2h |
| bob | 10 | 40 | 10 % | 80 | 0 | 0s | 0s |

| outcome | tasks | cpu hours |
|---|---:|---:|
| completed | 75 | 90 |
| failed | 25 | 10 |

- Jobs of bob worked 10 % of the cpus that they held: fewer cpus would do (\`weft history -u bob\`).
`,
  );
});

test('[Y10] an empty month says so, a large one is bounded, and a name breaks no table', () => {
  const none = { ...MONTH, byUser: [], byOutcome: [] };
  assert.match(reportText(none), /^# November 2026 on lab\n\nNothing ended/);
  const many = Array.from({ length: 60 }, (_, at) => used(`u${at}`, 1, at, at));
  const page = reportText({ ...MONTH, byUser: many, isCut: true });
  assert.match(page, /\| 10 others \| 10 \| 45 \|/);
  assert.match(page, /newest 3 jobs/);
  assert.match(reportText({ ...MONTH, byUser: [used('a|b', 1, 1, 1)] }), /^\| a\?b \|/m);
});

test('[Y10] a month is the last whole one, or the one that is named', () => {
  const local = (year: number, month: number) => new Date(year, month - 1, 1).getTime();
  const now = new Date(2027, 0, 15);
  assert.deepEqual(monthOf(undefined, now), { from: local(2026, 12), until: local(2027, 1) });
  assert.deepEqual(monthOf('2026-11', now), { from: local(2026, 11), until: local(2026, 12) });
  for (const text of ['', 'november', '2026-13', '2026-00', '2026-1']) {
    assert.throws(() => monthOf(text, now), /is no month/);
  }
  for (const text of ['0000-01', '0099-12', '1969-12']) {
    assert.throws(() => monthOf(text, now), /is before all jobs/);
  }
});

test('[Y10] the month that lasts counts what has ended by a clock that was ahead', () => {
  const month = { from: 100, until: 200 };
  assert.deepEqual(
    [99, 100, 199, 200].map((now) => askedOf(month, now)),
    [month, { from: 100 }, { from: 100 }, month],
  );
});
