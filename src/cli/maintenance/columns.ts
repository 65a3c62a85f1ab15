// Maintenance in listings, and one in full.

import type { MaintenanceView } from '../../api/maintenance.ts';
import { formatDuration } from '../../core/base/duration.ts';
import { parseFormat } from '../output/listing.ts';
import { type Column, printable } from '../output/table.ts';
import { fillTemplate } from '../output/template.ts';
import { formatInstant, signalName } from '../output/words.ts';

export function maintenanceColumns(now: number): Column<MaintenanceView>[] {
  return [
    { title: 'ID', value: (one) => one.id },
    { title: 'PHASE', value: (one) => one.phase },
    { title: 'FROM', value: (one) => formatInstant(one.from, now) },
    { title: 'UNTIL', value: (one) => formatInstant(one.until, now) },
    { title: 'NODES', value: (one) => one.nodes.map(({ node }) => node).join(',') },
    { title: 'RUNNING', value: (one) => one.running },
    { title: 'PROGRAM', value: (one) => one.program ?? '-', wide: true },
    { title: 'BY', value: (one) => one.createdBy, wide: true },
    { title: 'REASON', value: (one) => one.detail ?? one.reason },
  ];
}

/** One maintenance in full, as `-o` says. */
export function formatMaintenance(one: MaintenanceView, output: string | undefined): string[] {
  const format = parseFormat(output);
  if (format.kind === 'json') return [JSON.stringify(one, null, 2)];
  if (format.kind === 'name') return [one.id];
  if (format.kind === 'template') return [fillTemplate(format.template, one)];
  const now = Date.now();
  const lines: [string, string][] = [
    ['Maintenance', one.id],
    ['Phase', one.phase],
    ['Result', one.detail ?? ''],
    ['From', formatInstant(one.from, now)],
    ['Until', formatInstant(one.until, now)],
    ['Reason', `${one.reason} (${one.createdBy})`],
    ['Running', `${one.running}${warningWords(one)}`],
    ['Program', programWords(one)],
    ...one.nodes.map((work): [string, string] => [`Node ${work.node}`, workWords(work)]),
  ];
  const shown = lines.filter(([, value]) => value !== '');
  return shown.map(([title, value]) => `${`${title}:`.padEnd(16)} ${printable(value)}`);
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
