// Sites with their nodes, queues and jobs, for tables and for people.

import { asSentence } from '../../../kernel/base/sentence.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import { titledLines } from '../../../kernel/cli/output/one.ts';
import { colourOf, type Paint } from '../../../kernel/cli/output/paint.ts';
import { type Column, formatTable, printable } from '../../../kernel/cli/output/table.ts';
import { formatSpan } from '../../../kernel/cli/output/words.ts';
import { type RuleState, ruleWarning } from '../../../kernel/model/filter-rule.ts';
import type { SiteSummary, SiteView } from '../api/sites.ts';

export function siteColumns(): Column<SiteSummary>[] {
  return [
    { title: 'SITE', value: ({ name }) => name },
    { title: 'SYSTEM', value: ({ system }) => system },
    { title: 'MODE', value: ({ mode }) => mode },
    { title: 'STATE', value: ({ state }) => state, colour: colourOf },
    {
      title: 'NODES',
      value: ({ nodes, nodesUp }) => `${nodesUp}/${nodes}`,
      facts: [
        { title: 'NODES', raw: ({ nodes }) => nodes },
        { title: 'NODES UP', raw: ({ nodesUp }) => nodesUp },
      ],
      align: 'right',
    },
    {
      title: 'CPUS',
      value: ({ cpus, cpusUsed }) => `${cpusUsed}/${cpus}`,
      facts: [
        { title: 'CPUS', raw: ({ cpus }) => cpus },
        { title: 'CPUS USED', raw: ({ cpusUsed }) => cpusUsed },
      ],
      align: 'right',
    },
    { title: 'WAITING', value: ({ jobsWaiting }) => String(jobsWaiting), align: 'right' },
    { title: 'RUNNING', value: ({ jobsRunning }) => String(jobsRunning), align: 'right' },
    {
      title: 'AGE',
      value: ({ ageMs }) => ageWords(ageMs),
      raw: ({ ageMs }) => (ageMs === null ? null : ageMs / 1000),
      align: 'right',
    },
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
  { title: 'REMARK', value: (node) => hiddenWords(node) ?? remarkOf(node) },
];

/** The view of the filters. */
const FILTERED_NODE_COLUMNS: Column<NodeRow>[] = [
  { title: 'NODE', value: ({ name, seen }) => seen?.name ?? name },
  ...NODE_COLUMNS.slice(1, 4),
  { title: 'LABELS', value: ({ features, seen }) => listWords(features, seen?.labels) },
  { title: 'AT THE SITE', value: ownName },
  { title: 'RULES', value: rulesOf },
];

const QUEUE_COLUMNS: Column<QueueRow>[] = [
  { title: 'QUEUE', value: ({ name }) => name },
  { title: 'TAKES JOBS', value: ({ isOpen }) => (isOpen ? 'yes' : 'no') },
  { title: 'STARTS JOBS', value: ({ isStarted }) => (isStarted ? 'yes' : 'no') },
  { title: 'LIMIT', value: ({ walltimeMaxMs }) => limitWords(walltimeMaxMs), align: 'right' },
];

const FILTERED_QUEUE_COLUMNS: Column<QueueRow>[] = [
  { title: 'QUEUE', value: ({ name, seen }) => seen?.name ?? name },
  ...QUEUE_COLUMNS.slice(1),
  { title: 'AT THE SITE', value: ownName },
  { title: 'RULES', value: rulesOf },
];

const filteredJobColumns = (site: string): Column<JobRow>[] => [
  ...jobColumns(site).slice(0, 3),
  { title: 'QUEUE', value: ({ queue, seen }) => seen?.queue ?? queue ?? '' },
  { title: 'PARTITION', value: ({ seen }) => seen?.partition ?? '' },
  { title: 'LABELS', value: ({ seen }) => (seen?.labels ?? []).join(',') },
  { title: 'RULES', value: rulesOf },
  { title: 'REMARK', value: ({ reason }) => reason ?? '' },
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

/** @param shown `filtered`: what filters make of the site, in place of what the site says */
export function siteLines(site: SiteView, paint: Paint, shown: 'raw' | 'filtered'): string[] {
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
  if (shown === 'raw') {
    return [
      ...head,
      ...part('nodes', NODE_COLUMNS, site.nodes),
      ...part('queues', QUEUE_COLUMNS, site.queues),
      ...part('jobs', jobColumns(site.name), site.jobs),
      ...filterLines(site.filters),
    ];
  }
  return [
    ...head,
    ...part('nodes', FILTERED_NODE_COLUMNS, site.nodes.filter(isShown)),
    ...part('queues', FILTERED_QUEUE_COLUMNS, site.queues.filter(isShown)),
    ...part('jobs', filteredJobColumns(site.name), site.jobs.filter(isShown)),
    ...filterLines(site.filters),
  ];
}

/** How rules and sources fare, and what is suspicious about them. */
function filterLines(filters: SiteView['filters']): string[] {
  if (filters === null) return [];
  const { rules, sources, problem } = filters;
  const warnings = [
    ...(problem === null ? [] : [`the file of filters: ${problem}`]),
    ...sources.flatMap(({ name, problem: why }) =>
      why === null ? [] : [`source ${name}: ${why}`],
    ),
    ...rules.flatMap((rule) => {
      const warning = ruleWarning(rule as RuleState);
      return warning === null ? [] : [`rule ${rule.name} ${warning}`];
    }),
  ];
  return [
    ...(rules.length === 0 ? [] : part('rules', RULE_COLUMNS, rules)),
    ...(sources.length === 0 ? [] : part('sources', SOURCE_COLUMNS, sources)),
    ...(warnings.length === 0
      ? []
      : ['', ...warnings.map((one) => asSentence(`Warning: ${printable(one)}`))]),
  ];
}

type Filters = NonNullable<SiteView['filters']>;

const RULE_COLUMNS: Column<Filters['rules'][number]>[] = [
  { title: 'RULE', value: ({ name }) => name },
  { title: 'OVER', value: ({ over }) => over },
  { title: 'MATCHES', value: ({ matched, of }) => `${matched}/${of}`, align: 'right' },
];

const SOURCE_COLUMNS: Column<Filters['sources'][number]>[] = [
  { title: 'SOURCE', value: ({ name }) => name },
  { title: 'AGE', value: ({ ageMs }) => ageWords(ageMs), align: 'right' },
];

type Seen = NodeRow['seen'];

function isShown({ seen }: { readonly seen?: Seen }): boolean {
  return (seen?.hiddenBy ?? null) === null;
}

/** Where it is called otherwise here. */
function ownName({ name, seen }: Pick<NodeRow, 'name' | 'seen'>): string {
  return seen?.name == null ? '' : name;
}

function rulesOf({ seen }: { readonly seen?: Seen }): string {
  return (seen?.rules ?? []).join(',');
}

/** Returns null when it is shown. */
function hiddenWords({ seen }: { readonly seen?: Seen }): string | null {
  const rule = seen?.hiddenBy ?? null;
  return rule === null ? null : `hidden by rule ${rule}`;
}

function listWords(own: readonly string[], added: readonly string[] = []): string {
  return [...own, ...added].join(',');
}

function part<Row extends object>(
  name: string,
  columns: Column<Row>[],
  rows: readonly Row[],
): string[] {
  return ['', ...(rows.length === 0 ? [`No ${name}.`] : formatTable(columns, rows))];
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

function remarkOf({ state, word, reason }: NodeRow): string {
  if (state === 'idle' || state === 'running' || state === 'busy') return '';
  return reason === null ? word : `${word}: ${reason}`;
}
