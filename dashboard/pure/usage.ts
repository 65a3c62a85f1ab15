// Usage out of the history: cpu hours by day and by whom, and as a table to take elsewhere.

import type { HistoryJob } from '../../src/api/history.ts';

export type GroupBy = 'owner' | 'partition';

export interface UsageRow {
  readonly name: string;
  readonly jobs: number;
  readonly failed: number;
  readonly cpuHours: number;
}

export interface UsageOverTime {
  /** Begins of days or hours, ms since 1970. */
  readonly times: readonly number[];
  readonly rows: readonly UsageRow[];
  /** Cpu hours by name, in the order of `times`; the largest first. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

const SERIES_MAX = 6;
const BUCKETS_MAX = 48;

type Used = Pick<
  HistoryJob,
  | 'owner'
  | 'partition'
  | 'startedAt'
  | 'endedAt'
  | 'nodeCount'
  | 'cpuCount'
  | 'outcome'
  | 'runStartedAt'
>;

/** Plain jobs from their start to their end; of an array the span of all its tasks counts once. */
export function usageOf(
  jobs: readonly Used[],
  by: GroupBy,
  { from, until }: { readonly from: number; readonly until: number },
): UsageOverTime {
  const step = Math.max(1, (until - from) / BUCKETS_MAX);
  const times = Array.from({ length: BUCKETS_MAX }, (_, at) => from + at * step);
  const all = new Map<string, { jobs: number; failed: number; values: number[] }>();
  for (const job of jobs) {
    const name = job[by];
    const one = all.get(name) ?? { jobs: 0, failed: 0, values: times.map(() => 0) };
    all.set(name, one);
    one.jobs += 1;
    const kind = job.outcome?.kind;
    if (kind !== undefined && kind !== 'completed' && kind !== 'cancelled') one.failed += 1;
    const begin = job.runStartedAt ?? job.startedAt;
    if (begin === null) continue;
    const cpus = job.cpuCount * job.nodeCount;
    spread(one.values, { begin: begin - from, end: (job.endedAt ?? until) - from, step, cpus });
  }
  const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
  const named = [...all].map(([name, one]) => ({ name, ...one, cpuHours: sum(one.values) }));
  named.sort((one, other) => other.cpuHours - one.cpuHours || (one.name < other.name ? -1 : 1));
  return {
    times,
    rows: named.map(({ name, jobs: count, failed, cpuHours }) => ({
      name,
      jobs: count,
      failed,
      cpuHours,
    })),
    series: named.slice(0, SERIES_MAX).map(({ name, values }) => ({ name, values })),
  };
}

const HOUR_MS = 3_600_000;

function spread(
  values: number[],
  of: {
    readonly begin: number;
    readonly end: number;
    readonly step: number;
    readonly cpus: number;
  },
): void {
  const { begin, end, step, cpus } = of;
  const first = Math.max(0, Math.floor(begin / step));
  for (let at = first; at < values.length && at * step < end; at += 1) {
    const within = Math.min(end, (at + 1) * step) - Math.max(begin, at * step);
    if (within > 0) values[at] = (values[at] ?? 0) + (within * cpus) / HOUR_MS;
  }
}

/** Comma separated, as spreadsheets read it; nothing in it is taken for a formula. */
export function usageCsv(rows: readonly UsageRow[], by: GroupBy): string {
  const cell = (text: string): string => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.map(({ name, jobs, failed, cpuHours }) =>
    [cell(name), jobs, failed, cpuHours.toFixed(3)].join(),
  );
  return [`${by},jobs,failed,cpu_hours`, ...lines, ''].join('\n');
}
