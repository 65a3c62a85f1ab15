// `sinfo`: partitions and their nodes.

import { gpusInUse } from '../../../kernel/api/gpus-in-use.ts';
import { headNow } from '../../../kernel/api/head-time.ts';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { PartitionView } from '../../../kernel/api/partitions.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { byLetters, byNames, type Field, layOut } from '../core/formats.ts';
import { compressHosts } from '../core/hostlist.ts';
import type { OptionRow } from '../core/option-table.ts';
import { formatElapsed } from '../core/times.ts';
import { dateLine, instant } from './instants.ts';
import { META } from './queue-json.ts';
import { orderOf } from './sinfo-order.ts';
import {
  clusterOf,
  hostsOf,
  listOf,
  orSaid,
  RELEASE,
  readWords,
  refuseOperands,
  speaking,
} from './speaking.ts';

const value = { value: 'always' } as const;
export const INFO_OPTIONS = [
  { long: 'partition', short: 'p', ...value, words: 'only these partitions' },
  { long: 'nodes', short: 'n', ...value, words: 'only these nodes' },
  { long: 'Node', short: 'N', words: 'a line for each node' },
  { long: 'summarize', short: 's', words: 'a line for each partition' },
  { long: 'long', short: 'l', words: 'with more columns, below a line with the time' },
  { long: 'noheader', short: 'h', words: 'without the first line' },
  { long: 'format', short: 'o', ...value, words: '`%9P %.5a …`' },
  { long: 'states', short: 't', ...value, words: 'only nodes in these states' },
  { long: 'Format', short: 'O', ...value, words: '`NodeList:20,CPUsState,StateLong`' },
  { long: 'list-reasons', short: 'R', words: 'why nodes take no work' },
  { long: 'responding', short: 'r', words: 'only nodes that answer' },
  { long: 'dead', short: 'd', words: 'only nodes that do not answer' },
  { long: 'exact', short: 'e', kind: 'hint', words: 'ranges are shown as `4+`' },
  { long: 'all', short: 'a', words: 'as it is anyway' },
  { long: 'hide', words: 'as it is anyway' },
  { long: 'noconvert', words: 'as it is anyway' },
  { long: 'verbose', short: 'v', words: 'as it is anyway' },
  { long: 'local', words: 'there is one cluster' },
  { long: 'federation', words: 'there is one cluster' },
  { long: 'clusters', short: 'M', ...value, words: 'the name of this one, or `all`' },
  {
    long: 'sort',
    short: 'S',
    ...value,
    words: '`#P,-t`: by columns; else partitions come in their order',
  },
  { long: 'iterate', short: 'i', ...value, kind: 'refused', words: 'use watch(1)' },
  { long: 'reservation', short: 'T', kind: 'refused', words: 'say scontrol show reservation' },
  { long: 'yaml', value: 'maybe', kind: 'refused', words: 'say --json' },
  { long: 'json', value: 'maybe', words: "in the shape of Slurm's data parser" },
] as const satisfies readonly OptionRow[];

export const summary = 'Partitions and nodes, as sinfo of Slurm shows them.';
export const verb = speaking('sinfo', sinfo);

interface Row {
  readonly partition: PartitionShown;
  readonly nodes: readonly NodeView[];
  readonly state: string;
}

interface PartitionShown {
  readonly name: string;
  readonly isDefault: boolean;
  readonly available: string;
  readonly walltimeMs: number | null;
  readonly defaultMs: number | null;
  readonly nodesMax: number | null;
  readonly tier: number;
  readonly preempt: string;
  readonly groups: string;
}

const USUAL = '%9P %.5a %.10l %.6D %.6t %N';
const LONG_USUAL = '%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N';
const BY_NODE = '%.5D %.9P %6t';
const LONG_BY_NODE = '%.6D %.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E';
const REASONS = '%20E %9u %19H %N';
const SUMMARY = '%9P %.5a %.10l %.16F %N';

async function sinfo(context: Context, words: readonly string[]): Promise<number> {
  const { given: typed, operands } = readWords(INFO_OPTIONS, words);
  const given = orSaid(typed, context, {
    format: 'SINFO_FORMAT',
    partition: 'SINFO_PARTITION',
    sort: 'SINFO_SORT',
  });
  refuseOperands(operands);
  const api = await context.api();
  const cluster = await clusterOf(context, given.clusters);
  const [{ partitions }, { nodes }] = await Promise.all([
    api.call('listPartitions'),
    api.call('listNodes'),
  ]);
  if (given.json !== undefined) {
    context.print(JSON.stringify({ meta: META, errors: [], nodes: nodes.map(json) }, null, 1));
    return 0;
  }
  const named = hostsOf(given.nodes);
  const states = listOf(given.states)?.map((one) => one.toLowerCase());
  const bad = states?.find((one) => !STATES.test(one));
  if (bad !== undefined) throw usage(`Bad state string: "${bad}"`);
  const isWanted = (node: NodeView): boolean => {
    if (states === undefined) return true;
    const state = slurmNodeStateOf(node);
    const words = [
      state,
      LONG[state],
      state.replace('*', ''),
      'all',
      ...(/^dr/.test(state) ? ['drain'] : []),
    ];
    return states.some((one) => words.includes(one));
  };
  const rows = partitions
    .filter(({ name }) => given.partition === undefined || listOf(given.partition)?.includes(name))
    .flatMap(({ name, state, limits, nodes: members, tier, preempt, users, groups }) => {
      const partition = {
        name,
        isDefault: name === partitions[0]?.name,
        available: state === 'inactive' ? 'inact' : state,
        walltimeMs: limits.walltimeMs,
        defaultMs: limits.walltimeDefaultMs,
        nodesMax: limits.nodesPerTask,
        tier,
        preempt,
        groups: groupsOf({ users, groups }) ?? 'all',
      };
      const own = nodes.filter(
        (node) =>
          members.includes(node.name) &&
          (named === undefined || named.includes(node.name)) &&
          isWanted(node) &&
          (given['list-reasons'] === undefined || node.reason !== null) &&
          (given.responding === undefined || node.state === 'up') &&
          (given.dead === undefined || node.state !== 'up'),
      );
      if (given['list-reasons'] !== undefined && own.length === 0) return [];
      return rowsOf(partition, own, given);
    });
  const format = given.format ?? usualOf(given, rows);
  const pieces =
    given.Format === undefined
      ? byLetters(format, FIELDS)
      : byNames(given.Format, NAMED, { mark: ':' });
  if (!pieces.ok) throw usage(pieces.error);
  const order = given.sort === undefined ? null : orderOf(given.sort, keysOf(partitions));
  if (order?.ok === false) throw usage(order.error);
  const lay = { header: given.noheader === undefined, separator: null };
  // Readers of it leave out two lines, as of squeue.
  if (lay.header && cluster !== null) context.print(`CLUSTER: ${cluster}`);
  if (lay.header && given.long !== undefined) context.print(dateLine(headNow()));
  const shown = given.Node === undefined ? together(rows, format) : rows;
  const ordered = order === null ? shown : shown.toSorted(order.value);
  for (const line of layOut(pieces.value, ordered, lay)) context.print(line);
  return 0;
}

/** Groups that may use a partition: none of one that some users alone have; null: everybody may. */
export function groupsOf({
  users,
  groups,
}: Pick<PartitionView, 'users' | 'groups'>): string | null {
  if (users === null && groups === null) return null;
  return groups?.join(',') || '(null)';
}

/** Names of nodes have as much room as the longest needs. */
const NAMES_LEAST = 10;

function usualOf(given: Given, rows: readonly Row[]): string {
  // What is grouped by is what is shown.
  if (given.Format !== undefined) return lettersOf(given.Format);
  if (given['list-reasons'] !== undefined) return REASONS;
  const isLong = given.long !== undefined;
  if (given.Node !== undefined) {
    const names = rows.flatMap(({ nodes }) => nodes.map(({ name }) => name.length));
    const width = names.reduce((most, length) => Math.max(most, length), NAMES_LEAST);
    return `%${width}N ${isLong ? LONG_BY_NODE : BY_NODE}`;
  }
  if (given.summarize !== undefined) return SUMMARY;
  return isLong ? LONG_USUAL : USUAL;
}

type Given = ReturnType<typeof readWords<(typeof INFO_OPTIONS)[number]['long']>>['given'];

function rowsOf(partition: PartitionShown, nodes: readonly NodeView[], given: Given): Row[] {
  if (given.Node !== undefined) {
    return nodes.map((node) => ({ partition, nodes: [node], state: slurmNodeStateOf(node) }));
  }
  return [{ partition, nodes, state: nodes.length === 0 ? 'n/a' : '' }];
}

/** What tells lines apart where it is shown; of all else a line has the sum, or the range. */
const APART = 'PRalLpsBtTfbGEnouUHvOgM';

/**
 * Nodes that the format tells nothing of are one line: `%C` alone is that of the cluster, in which
 * no node counts twice (sinfo(1), "--format").
 */
function together(rows: readonly Row[], format: string): Row[] {
  const letters = [...format.matchAll(/%\.?\d*(.)/g)].map(([, letter = '']) => letter);
  const shown = letters.filter((letter) => APART.includes(letter));
  const single = rows.flatMap((row) =>
    row.nodes.length === 0
      ? [row]
      : row.nodes.map((node) => ({ ...row, nodes: [node], state: slurmNodeStateOf(node) })),
  );
  const groups = Map.groupBy(single, (row) =>
    JSON.stringify(shown.map((letter) => FIELDS[letter]?.value(row))),
  );
  return [...groups.values()].map((some) => {
    const [first] = some as [Row, ...Row[]];
    const nodes = new Map(some.flatMap((row) => row.nodes).map((node) => [node.name, node]));
    return { ...first, nodes: [...nodes.values()] };
  });
}

/** One word of Slurm's for a node. */
export function slurmNodeStateOf({ state, running, free, total, reason }: NodeView): string {
  if (state === 'away' || state === 'never_seen') return 'down*';
  if (state !== 'up') return running.length > 0 ? 'drng' : 'drain';
  if (reason !== null) return running.length > 0 ? 'drng' : 'drain';
  if (running.length === 0) return 'idle';
  return free.cpuCount > 0 && free.cpuCount < total.cpuCount ? 'mix' : 'alloc';
}

/** Words of `-t`, with those of states that no node is in here. */
const STATES =
  /^(?:all|alloc(?:ated)?|block(?:ed)?|cloud|comp(?:leting)?|down\*?|drain(?:ed|ing)?\*?|drng|dr|err(?:or)?|fail(?:ing|g)?|fut(?:ure)?|idle\*?|maint|mix(?:ed)?|no_respond|npc|perfctrs|planned|plnd|pow(?:er(?:ed|ing)?_?(?:up|down|dn)?|_dn|_up)|reboot.*|reserved|resv|unk(?:nown)?)$/;

const LONG: Readonly<Record<string, string>> = {
  idle: 'idle',
  mix: 'mixed',
  alloc: 'allocated',
  drain: 'drained',
  drng: 'draining',
};

const sum = (nodes: readonly NodeView[], of: (node: NodeView) => number): number =>
  nodes.reduce((all, node) => all + of(node), 0);
const least = (nodes: readonly NodeView[], of: (node: NodeView) => number): string => {
  const values = nodes.map(of);
  if (values.length === 0) return '0';
  const [from, to] = [Math.min(...values), Math.max(...values)];
  return from === to ? String(from) : `${from}+`;
};
const taken = ({ total, free }: NodeView): number => total.cpuCount - free.cpuCount;
const isOut = (node: NodeView): boolean => /^d/.test(slurmNodeStateOf(node));

const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576);
const none = (text: string): string => (text === '' ? '(null)' : text);
const features = ({ nodes: [node] }: Row): string => none(node?.labels.join(',') ?? '');
const gpus = (count: string): string => (count === '0' ? '(null)' : `gpu:${count}`);
const cpus = ({ nodes }: Row): string => least(nodes, ({ total }) => total.cpuCount);
const time = (ms: number | null, unset: string): string =>
  ms === null ? unset : formatElapsed(ms);
/** Nodes that take work and have some. */
const busy = (nodes: readonly NodeView[]): number =>
  nodes.filter((node) => !isOut(node) && node.running.length > 0).length;

/** Letter of `-o`, `-` for none, names of `-O`, title, and what it says. */
type Column = readonly [letter: string, names: string, title: string, of: (row: Row) => unknown];
const COLUMNS: readonly Column[] = [
  ['a', 'Available', 'AVAIL', ({ partition }) => partition.available],
  [
    'A',
    'NodeAI',
    'NODES(A/I)',
    ({ nodes }) => {
      const used = busy(nodes);
      return `${used}/${nodes.filter((node) => !isOut(node)).length - used}`;
    },
  ],
  ['b', 'features_act', 'ACTIVE_FEATURES', features],
  ['B', 'MaxCPUsPerNode', 'MAX_CPUS_PER_NODE', () => 'UNLIMITED'],
  ['c', 'CPUs', 'CPUS', cpus],
  [
    'C',
    'CPUsState',
    'CPUS(A/I/O/T)',
    ({ nodes }) => {
      const all = sum(nodes, ({ total }) => total.cpuCount);
      const out = sum(nodes.filter(isOut), ({ free }) => free.cpuCount);
      const used = sum(nodes, taken);
      return `${used}/${all - used - out}/${out}/${all}`;
    },
  ],
  ['d', 'Disk', 'TMP_DISK', () => 0],
  ['D', 'Nodes', 'NODES', ({ nodes }) => nodes.length],
  [
    'e',
    'FreeMem',
    'FREE_MEM',
    ({ nodes }) =>
      least(nodes, ({ load, free }) => mebibytes(load?.memoryFreeBytes ?? free.memoryBytes)),
  ],
  ['E', 'Reason', 'REASON', ({ nodes: [node] }) => node?.drained?.reason ?? node?.reason ?? 'none'],
  ['f', 'Features', 'AVAIL_FEATURES', features],
  [
    'F',
    'NodeAIOT',
    'NODES(A/I/O/T)',
    ({ nodes }) => {
      const out = nodes.filter(isOut).length;
      const used = busy(nodes);
      return `${used}/${nodes.length - used - out}/${out}/${nodes.length}`;
    },
  ],
  ['g', 'Groups', 'GROUPS', ({ partition }) => partition.groups],
  ['G', 'Gres', 'GRES', ({ nodes }) => gpus(least(nodes, ({ total }) => total.gpuCount))],
  ['h', 'OverSubscribe', 'OVERSUBSCRIBE', () => 'NO'],
  ['H', 'TimeStamp', 'TIMESTAMP', ({ nodes: [node] }) => since(node)],
  ['I', 'PriorityJobFactor', 'PRIO_JOB_FACTOR', () => 1],
  ['l', 'Time', 'TIMELIMIT', ({ partition }) => time(partition.walltimeMs, 'infinite')],
  ['L', 'DefaultTime', 'DEFAULTTIME', ({ partition }) => time(partition.defaultMs, 'n/a')],
  [
    'm',
    'Memory',
    'MEMORY',
    ({ nodes }) => least(nodes, ({ total }) => mebibytes(total.memoryBytes)),
  ],
  ['M', 'PreemptMode', 'PREEMPT_MODE', ({ partition }) => partition.preempt.toUpperCase()],
  ['n', 'NodeHost', 'HOSTNAMES', ({ nodes }) => compressHosts(nodes.map(({ name }) => name))],
  ['N', 'NodeList', 'NODELIST', ({ nodes }) => compressHosts(nodes.map(({ name }) => name))],
  ['o', 'NodeAddr', 'NODE_ADDR', ({ nodes }) => compressHosts(nodes.map(({ name }) => name))],
  ['O', 'CPUsLoad', 'CPU_LOAD', ({ nodes: [node] }) => node?.load?.load1.toFixed(2) ?? 'N/A'],
  ['p', 'PriorityTier,Priority', 'PRIO_TIER', ({ partition }) => partition.tier],
  [
    'P',
    'Partition',
    'PARTITION',
    ({ partition: { name, isDefault } }) => name + (isDefault ? '*' : ''),
  ],
  ['r', 'Root', 'ROOT', () => 'no'],
  ['R', 'PartitionName', 'PARTITION', ({ partition }) => partition.name],
  ['s', 'Size', 'JOB_SIZE', ({ partition }) => `1-${partition.nodesMax ?? 'infinite'}`],
  ['S', 'AllocNodes', 'ALLOCNODES', () => 'all'],
  ['t', 'StateCompact', 'STATE', ({ state }) => state],
  ['T', 'StateLong,StateComplete', 'STATE', ({ state }) => LONG[state] ?? state.replace('*', '')],
  ['u', 'User', 'USER', ({ nodes: [node] }) => node?.drained?.by ?? 'Unknown'],
  ['U', 'UserLong', 'USER', ({ nodes: [node] }) => node?.drained?.by ?? 'Unknown'],
  ['v', 'Version', 'VERSION', () => RELEASE.split(' ')[1]],
  ['V', 'Cluster', 'CLUSTER', () => 'N/A'],
  ['w', 'Weight', 'WEIGHT', () => 1],
  // As Slurm says it of a node of which only the cpus are configured.
  ['X', 'Sockets', 'SOCKETS', cpus],
  ['Y', 'Cores', 'CORES', () => 1],
  ['z', 'SocketCoreThread', 'S:C:T', (row) => `${cpus(row)}:1:1`],
  ['Z', 'Threads', 'THREADS', () => 1],
  ['-', 'AllocMem', 'ALLOCMEM', ({ nodes }) => least(nodes, allocated)],
  [
    '-',
    'GresUsed',
    'GRES_USED',
    ({ nodes }) =>
      least(nodes, ({ total }) => total.gpuCount) === '0'
        ? '(null)'
        : `gpu:${least(nodes, gpusInUse)}`,
  ],
  ['-', 'Comment', 'COMMENT', () => '(null)'],
  ['-', 'Extra', 'EXTRA', () => '(null)'],
];

const allocated = ({ total, free }: NodeView): number =>
  mebibytes(total.memoryBytes - free.memoryBytes);

const since = (node: NodeView | undefined): string =>
  node?.drained == null ? 'Unknown' : instant(node.drained.at);

const FIELDS: Readonly<Record<string, Field<Row>>> = Object.fromEntries(
  COLUMNS.filter(([letter]) => letter !== '-').map(([letter, , title, of]) => [
    letter,
    { title, value: (row) => String(of(row)) },
  ]),
);

const NAMED: Readonly<Record<string, Field<Row> & { readonly width: number }>> = Object.fromEntries(
  COLUMNS.flatMap(([, names, title, of]) =>
    names
      .split(',')
      .map((name) => [name, { title, value: (row: Row) => String(of(row)), width: 20 }]),
  ),
);

/** States in the order of Slurm's numbers. */
const STATE_ORDER = ['down*', 'idle', 'alloc', 'mix', 'drain', 'drng'];

/** Keys of lines: what columns say, but for times and states; `#P`: as configured. */
function keysOf(partitions: readonly { readonly name: string }[]) {
  const names = partitions.map(({ name }) => name);
  const state = (row: Row) =>
    STATE_ORDER.indexOf(row.state || slurmNodeStateOf(row.nodes[0] as NodeView));
  const columns = Object.entries(FIELDS).map(([letter, { value }]) => [letter, value] as const);
  return {
    ...Object.fromEntries(columns),
    t: state,
    T: state,
    l: ({ partition }: Row) => partition.walltimeMs ?? Number.POSITIVE_INFINITY,
    L: ({ partition }: Row) => partition.defaultMs ?? Number.POSITIVE_INFINITY,
    '#P': ({ partition }: Row) => names.indexOf(partition.name),
  };
}

/** Columns of no letter are ranges of a line, as memory is. */
function lettersOf(format: string): string {
  const said = format.split(',').map((word) => word.trim().split(':')[0]?.toLowerCase() ?? '');
  const shown = COLUMNS.filter(([letter, names]) => {
    return letter !== '-' && names.split(',').some((name) => said.includes(name.toLowerCase()));
  });
  return shown.map(([letter]) => `%${letter}`).join(' ');
}

function json(node: NodeView): object {
  const { name, total, free, labels, reason } = node;
  const state = slurmNodeStateOf(node);
  return {
    name,
    hostname: name,
    state: (LONG[state] ?? 'down').toLowerCase(),
    cpus: total.cpuCount,
    alloc_cpus: total.cpuCount - free.cpuCount,
    real_memory: Math.floor(total.memoryBytes / 1_048_576),
    gres: total.gpuCount > 0 ? `gpu:${total.gpuCount}` : '',
    active_features: labels.join(','),
    reason: reason ?? '',
  };
}
