// Sites with their nodes, queues and jobs, for tables and for people.

import type { SiteSummary, SiteView } from '../../api/sites.ts';
import { formatSize } from '../../core/base/size.ts';
import { titledLines } from '../output/one.ts';
import { colourOf, type Paint } from '../output/paint.ts';
import { type Column, formatTable } from '../output/table.ts';
import { formatSpan } from '../output/words.ts';

export function siteColumns(): Column<SiteSummary>[] {
  return [
    { title: 'SITE', value: ({ name }) => name },
    { title: 'SYSTEM', value: ({ system }) => system },
    { title: 'MODE', value: ({ mode }) => mode },
    { title: 'STATE', value: ({ state }) => state, colour: colourOf },
    { title: 'NODES', value: ({ nodes, nodesUp }) => `${nodesUp}/${nodes}`, align: 'right' },
    { title: 'CPUS', value: ({ cpus, cpusUsed }) => `${cpusUsed}/${cpus}`, align: 'right' },
    { title: 'WAITING', value: ({ jobsWaiting }) => String(jobsWaiting), align: 'right' },
    { title: 'RUNNING', value: ({ jobsRunning }) => String(jobsRunning), align: 'right' },
    { title: 'AGE', value: ({ ageMs }) => ageWords(ageMs), align: 'right' },
    { title: 'REMARK', value: ({ problem }) => problem ?? '', least: 12 },
  ];
}

type NodeRow = SiteView['nodes'][number];
type QueueRow = SiteView['queues'][number];
type JobRow = SiteView['jobs'][number];

const NODE_COLUMNS: Column<NodeRow>[] = [
  { title: 'NODE', value: ({ name }) => name },
  { title: 'STATE', value: ({ state }) => state, colour: colourOf },
  { title: 'CPUS', value: ({ cpusUsed, cpuCount }) => `${cpusUsed}/${cpuCount}`, align: 'right' },
  { title: 'MEMORY', value: ({ memoryBytes }) => sizeWords(memoryBytes), align: 'right' },
  { title: 'QUEUES', value: ({ queues }) => queues.join(',') },
  { title: 'REMARK', value: ({ reason, state, word }) => remarkOf(state, word, reason) },
];

const QUEUE_COLUMNS: Column<QueueRow>[] = [
  { title: 'QUEUE', value: ({ name }) => name },
  { title: 'TAKES JOBS', value: ({ isOpen }) => (isOpen ? 'yes' : 'no') },
  { title: 'STARTS JOBS', value: ({ isStarted }) => (isStarted ? 'yes' : 'no') },
  { title: 'LIMIT', value: ({ walltimeMaxMs }) => limitWords(walltimeMaxMs), align: 'right' },
];

const jobColumns = (site: string): Column<JobRow>[] => [
  { title: 'JOB', value: ({ id }) => `${site}/${id}` },
  { title: 'USER', value: ({ owner }) => owner },
  { title: 'STATE', value: ({ state }) => state, colour: colourOf },
  { title: 'NODES', value: ({ nodes, nodeCount }) => nodes.join(',') || `(${nodeCount})` },
  { title: 'LIMIT', value: ({ walltimeMs }) => limitWords(walltimeMs), align: 'right' },
  { title: 'GIVEN BY', value: ({ isOurs }) => (isOurs ? 'weft' : 'its users') },
  { title: 'NAME', value: ({ name }) => name, least: 8 },
  { title: 'REMARK', value: ({ reason }) => reason ?? '' },
];

export function siteLines(site: SiteView, paint: Paint): string[] {
  const head = titledLines(
    [
      ['Site', site.name],
      ['System', site.system],
      ['Mode', site.takeover === null ? site.mode : `${site.mode} (${site.takeover})`],
      ['State', site.state, colourOf(site.state)],
      ['Problem', site.problem ?? ''],
      ['Listed', site.ageMs === null ? 'never' : `${ageWords(site.ageMs)} ago`],
    ],
    undefined,
    paint,
  );
  return [
    ...head,
    ...part('nodes', NODE_COLUMNS, site.nodes),
    ...part('queues', QUEUE_COLUMNS, site.queues),
    ...part('jobs', jobColumns(site.name), site.jobs),
  ];
}

function part<Row extends object>(
  name: string,
  columns: Column<Row>[],
  rows: readonly Row[],
): string[] {
  return ['', ...(rows.length === 0 ? [`No ${name}.`] : formatTable(columns, rows, false))];
}

function ageWords(ageMs: number | null): string {
  return ageMs === null ? '-' : formatSpan(ageMs);
}

function sizeWords(bytes: number | null): string {
  return bytes === null ? '-' : formatSize(bytes);
}

function limitWords(ms: number | null): string {
  return ms === null ? '-' : formatSpan(ms);
}

function remarkOf(state: string, word: string, reason: string | null): string {
  if (state === 'idle' || state === 'running' || state === 'busy') return '';
  return reason === null ? word : `${word}: ${reason}`;
}
