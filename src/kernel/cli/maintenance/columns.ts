// Maintenance in listings, and one in full.

import { headNow } from '../../api/head-time.ts';
import type { MaintenanceView } from '../../api/maintenance.ts';
import { formatDuration } from '../../base/duration.ts';
import { formatOne, type Titled, titledLines } from '../output/one.ts';
import type { Column } from '../output/table.ts';
import { instantColumn } from '../output/times.ts';
import { formatInstant, signalName } from '../output/words.ts';

export function maintenanceColumns(
  now: number,
  { why = false }: { readonly why?: boolean } = {},
): Column<MaintenanceView>[] {
  const reason: Column<MaintenanceView> = { title: 'REASON', value: reasonOf, least: 12 };
  return [
    { title: 'ID', value: (one) => one.id },
    { title: 'PHASE', value: (one) => one.phase },
    instantColumn('FROM', (one) => one.from, { now }),
    instantColumn('UNTIL', (one) => one.until, { now }),
    { title: 'NODES', value: (one) => one.nodes.map(({ node }) => node).join(','), least: 6 },
    { title: 'RUNNING', value: (one) => one.running },
    { title: 'PROGRAM', value: (one) => one.program ?? '-', wide: true },
    { title: 'BY', value: (one) => one.createdBy, wide: true },
    ...(why
      ? [
          { title: 'WHY', value: whyOf, least: 24 },
          { title: 'RESULT', value: (one: MaintenanceView) => one.detail ?? '-', least: 12 },
        ]
      : [reason]),
  ];
}

function reasonOf({ detail, reason }: MaintenanceView): string {
  return detail ?? reason;
}

function whyOf({ goal, reason, createdBy }: MaintenanceView): string {
  if (goal === null) return `${reason} (${createdBy})`;
  return `goals of ${goal.class}: ${reason} (attempt ${goal.attempt})`;
}

/** One maintenance in full, as `-o` says. */
export function formatMaintenance(one: MaintenanceView, output: string | undefined) {
  return formatOne(one, output, one.id, describe);
}

function describe(one: MaintenanceView): string[] {
  const now = headNow();
  return titledLines([
    ['Maintenance', one.id],
    ['Phase', one.phase],
    ['Result', one.detail ?? ''],
    ['From', formatInstant(one.from, now)],
    ['Until', formatInstant(one.until, now)],
    ['Reason', `${one.reason} (${one.createdBy})`],
    ['Running', `${one.running}${warningWords(one)}`],
    ['Program', programWords(one)],
    ...one.nodes.map((work): Titled => [`Node ${work.node}`, workWords(work)]),
  ]);
}

function warningWords({ warning }: MaintenanceView): string {
  if (warning === null) return '';
  return `, ${signalName(warning.signal)} ${formatDuration(warning.leadMs)} before`;
}

function programWords({ program, account, restarts }: MaintenanceView): string {
  if (program === null) return '';
  const who = account === null ? '' : ` as ${account}`;
  return `${program}${who}${restarts ? ', restarts the node' : ''}`;
}

function workWords({ state, jobId, why }: MaintenanceView['nodes'][number]): string {
  const job = jobId === null ? '' : `, job ${jobId}`;
  return `${state}${job}${why === null ? '' : `: ${why}`}`;
}
