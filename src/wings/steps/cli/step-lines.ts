// The steps of a job, for people who look at it: the newest, one line each.

import type { JobDetail } from '../../../kernel/api/jobs.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import { type Column, formatTable, type Look } from '../../../kernel/cli/output/table.ts';
import { formatSpan, signalName } from '../../../kernel/cli/output/words.ts';
import type { StepView } from '../api/step-view.ts';

const SHOWN_MAX = 20;

const COLUMNS: readonly Column<StepView & { readonly now: number }>[] = [
  { title: 'STEP', value: ({ id }) => id },
  { title: 'STATE', value: stateOf },
  { title: 'TIME', align: 'right', value: timeOf },
  { title: 'CPU', align: 'right', value: ({ used }) => cpuWords(used) },
  { title: 'MEMORY', align: 'right', value: ({ used }) => memoryWords(used) },
  { title: 'NODES', value: ({ nodes }) => nodes.join(','), least: 8 },
  { title: 'COMMAND', value: ({ command }) => command, least: 12 },
];

/** Shown when there are any. */
const BOUND: (typeof COLUMNS)[number] = {
  title: 'BOUND TO',
  value: ({ cpus = [] }) => cpus.join(' '),
  least: 8,
};

export function stepLines({ steps = [] }: JobDetail, now: number, look: Look): string[] {
  if (steps.length === 0) return [];
  const rows = steps.slice(-SHOWN_MAX).map((step) => ({ ...step, now }));
  const left = steps.length - rows.length;
  const before = left === 0 ? [] : [`(${left} older steps)`];
  const isBound = rows.some(({ cpus }) => cpus !== undefined);
  const columns = isBound ? COLUMNS.toSpliced(-1, 0, BOUND) : COLUMNS;
  return ['', ...before, ...formatTable(columns, rows, 'main', look)];
}

/** `running`, `exit 3`, `SIGTERM`, or why nobody knows. */
function stateOf({ state, exit, why }: StepView): string {
  if (state === 'running') return state;
  if (why !== null) return why;
  if (exit === null) return state;
  return 'code' in exit && exit.code !== undefined
    ? `exit ${exit.code}`
    : signalName(exit.signal ?? 0);
}

function cpuWords(used: StepView['used']): string {
  return used === null ? '-' : formatSpan((used.userUs + used.systemUs) / 1000);
}

function memoryWords(used: StepView['used']): string {
  return used === null ? '-' : formatSize(used.memoryPeakBytes);
}

function timeOf({ startedAt, endedAt, now }: StepView & { readonly now: number }): string {
  return startedAt === null ? '' : formatSpan((endedAt ?? now) - startedAt);
}
