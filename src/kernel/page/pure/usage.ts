// What was used, added up by the head: as curves, as a table, and as one to take elsewhere.

import type { UsageReportRow } from '../../api/usage-report.ts';
import { csvCell } from '../../base/csv-cell.ts';
import type { UsageKey } from '../../model/usage-keys.ts';

export interface UsageRow {
  readonly name: string;
  readonly tasks: number;
  /** Hours for which cpus were held, and in which they worked. */
  readonly cpuHours: number;
  readonly usedCpuHours: number;
  readonly gpuHours: number;
}

export interface UsageOverTime {
  /** Begins of steps, ms since 1970. */
  readonly times: readonly number[];
  /** The largest first. */
  readonly rows: readonly UsageRow[];
  /** Cpu hours by name, in the order of `times`; the largest first. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

const SERIES_MAX = 6;
const STEPS = 48;
const STEP_MIN_MS = 60_000;

/** What to ask for: the time until now, in steps. */
export function stepsOf(now: number, span: number) {
  const stepMs = Math.max(STEP_MIN_MS, Math.ceil(span / STEPS));
  return { from: now - span, until: now, stepMs };
}

export function usageOf(
  reported: readonly UsageReportRow[],
  {
    from,
    until,
    stepMs,
  }: { readonly from: number; readonly until: number; readonly stepMs: number },
): UsageOverTime {
  const size = Math.max(1, Math.ceil((until - from) / stepMs));
  const times = Array.from({ length: size }, (_, at) => from + at * stepMs);
  const all = new Map<string, UsageRow & { values: number[] }>();
  for (const { key, from: begin, tasks, cpuHours, usedCpuHours, gpuHours = 0 } of reported) {
    const one = all.get(key);
    const values = one?.values ?? times.map(() => 0);
    const at = Math.min(size - 1, Math.round((begin - from) / stepMs));
    values[at] = (values[at] ?? 0) + cpuHours;
    all.set(key, {
      name: key,
      values,
      tasks: tasks + (one?.tasks ?? 0),
      cpuHours: cpuHours + (one?.cpuHours ?? 0),
      usedCpuHours: usedCpuHours + (one?.usedCpuHours ?? 0),
      gpuHours: gpuHours + (one?.gpuHours ?? 0),
    });
  }
  const named = [...all.values()];
  named.sort((one, other) => other.cpuHours - one.cpuHours || (one.name < other.name ? -1 : 1));
  return {
    times,
    rows: named.map(({ values: _, ...row }) => row),
    series: named.slice(0, SERIES_MAX).map(({ name, values }) => ({ name, values })),
  };
}

/** Comma separated, as spreadsheets read it; nothing in it is taken for a formula. */
export function usageCsv(rows: readonly UsageRow[], by: UsageKey): string {
  const lines = rows.map(({ name, tasks, cpuHours, usedCpuHours, gpuHours }) =>
    [csvCell(name), tasks, ...[cpuHours, usedCpuHours, gpuHours].map((of) => of.toFixed(3))].join(),
  );
  return [`${by},tasks,cpu_hours,used_cpu_hours,gpu_hours`, ...lines, ''].join('\n');
}
