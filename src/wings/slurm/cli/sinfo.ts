// `sinfo`: partitions and their nodes.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { byLetters, byNames, type Field, layOut } from '../core/formats.ts';
import { compressHosts } from '../core/hostlist.ts';
import type { OptionRow } from '../core/option-table.ts';
import { formatElapsed } from '../core/times.ts';
import { META } from './queue-json.ts';
import { hostsOf, listOf, orSaid, readWords, refuseOperands, speaking } from './speaking.ts';
import { dateLine, instant } from './squeue.ts';

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
  { long: 'exact', short: 'e', kind: 'hint', words: 'ranges are shown as `4+`' },
  { long: 'all', short: 'a', words: 'as it is anyway' },
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
  readonly isUp: boolean;
  readonly walltimeMs: number | null;
}

const USUAL = '%9P %.5a %.10l %.6D %.6t %N';
const LONG_USUAL = '%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N';
const BY_NODE = '%N %.5D %.9P %.6t';
const LONG_BY_NODE = '%N %.6D %.9P %.11T %.4c %.8z %.6m %.8d %.6w %.8f %20E';
const REASONS = '%.20E %9u %19H %N';
const SUMMARY = '%9P %.5a %.10l %.15F %N';

async function sinfo(context: Context, words: readonly string[]): Promise<number> {
  const { given: typed, operands } = readWords(INFO_OPTIONS, words);
  const given = orSaid(typed, context, { format: 'SINFO_FORMAT', partition: 'SINFO_PARTITION' });
  refuseOperands(operands);
  const api = await context.api();
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
    .flatMap(({ name, state, limits, nodes: members }, at) => {
      const isUp = state === 'up' || state === 'drain';
      const partition = { name, isDefault: at === 0, isUp, walltimeMs: limits.walltimeMs };
      const own = nodes.filter(
        (node) =>
          members.includes(node.name) &&
          (named === undefined || named.includes(node.name)) &&
          isWanted(node) &&
          (given['list-reasons'] === undefined || node.reason !== null) &&
          (given.responding === undefined || node.state === 'up'),
      );
      if (given['list-reasons'] !== undefined && own.length === 0) return [];
      return rowsOf(partition, own, given);
    });
  const format = given.format ?? usualOf(given);
  const pieces =
    given.Format === undefined
      ? byLetters(format, FIELDS)
      : byNames(given.Format, NAMED, { mark: ':' });
  if (!pieces.ok) throw usage(pieces.error);
  const lay = { header: given.noheader === undefined, separator: null };
  // Readers of it leave out two lines, as of squeue.
  if (lay.header && given.long !== undefined) context.print(dateLine(headNow()));
  for (const line of layOut(
    pieces.value,
    given.Node === undefined ? together(rows, format) : rows,
    lay,
  ))
    context.print(line);
  return 0;
}

function usualOf(given: Given): string {
  // What is grouped by is what is shown.
  if (given.Format !== undefined) return lettersOf(given.Format);
  if (given['list-reasons'] !== undefined) return REASONS;
  const isLong = given.long !== undefined;
  if (given.Node !== undefined) return isLong ? LONG_BY_NODE : BY_NODE;
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
const APART = 'PRaltTfbGEnuH';

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

const LONG: Readonly<Record<string, string>> = {
  idle: 'idle',
  mix: 'mixed',
  alloc: 'allocated',
  drain: 'drained',
  drng: 'draining',
};

const field = (title: string, of: (row: Row) => string | number): Field<Row> => ({
  title,
  value: (row) => String(of(row)),
});
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

const FIELDS: Readonly<Record<string, Field<Row>>> = {
  P: field('PARTITION', ({ partition }) => partition.name + (partition.isDefault ? '*' : '')),
  R: field('PARTITION', ({ partition }) => partition.name),
  a: field('AVAIL', ({ partition }) => (partition.isUp ? 'up' : 'down')),
  l: field('TIMELIMIT', ({ partition: { walltimeMs } }) =>
    walltimeMs === null ? 'infinite' : formatElapsed(walltimeMs),
  ),
  D: field('NODES', ({ nodes }) => nodes.length),
  t: field('STATE', ({ state }) => state),
  T: field('STATE', ({ state }) => LONG[state] ?? state.replace('*', '')),
  N: field('NODELIST', ({ nodes }) => compressHosts(nodes.map(({ name }) => name))),
  n: field('HOSTNAMES', ({ nodes }) => compressHosts(nodes.map(({ name }) => name))),
  c: field('CPUS', ({ nodes }) => least(nodes, ({ total }) => total.cpuCount)),
  m: field('MEMORY', ({ nodes }) =>
    least(nodes, ({ total }) => Math.floor(total.memoryBytes / 1_048_576)),
  ),
  C: field('CPUS(A/I/O/T)', ({ nodes }) => {
    const all = sum(nodes, ({ total }) => total.cpuCount);
    const out = sum(nodes.filter(isOut), ({ free }) => free.cpuCount);
    const used = sum(nodes, taken);
    return `${used}/${all - used - out}/${out}/${all}`;
  }),
  F: field('NODES(A/I/O/T)', ({ nodes }) => {
    const out = nodes.filter(isOut).length;
    const used = nodes.filter((node) => !isOut(node) && node.running.length > 0).length;
    return `${used}/${nodes.length - used - out}/${out}/${nodes.length}`;
  }),
  G: field('GRES', ({ nodes }) => {
    const gpus = least(nodes, ({ total }) => total.gpuCount);
    return gpus === '0' ? '(null)' : `gpu:${gpus}`;
  }),
  f: field('AVAIL_FEATURES', ({ nodes }) => nodes[0]?.labels.join(',') || '(null)'),
  E: field('REASON', ({ nodes: [node] }) => node?.drained?.reason ?? node?.reason ?? 'none'),
  A: field('NODES(A/I)', ({ nodes }) => {
    const used = nodes.filter((node) => !isOut(node) && node.running.length > 0).length;
    return `${used}/${nodes.filter((node) => !isOut(node)).length - used}`;
  }),
  e: field('FREE_MEM', ({ nodes }) =>
    least(nodes, ({ free }) => Math.floor(free.memoryBytes / 1_048_576)),
  ),
  b: field('ACTIVE_FEATURES', ({ nodes }) => nodes[0]?.labels.join(',') || '(null)'),
  u: field('USER', ({ nodes }) => nodes[0]?.drained?.by ?? 'Unknown'),
  H: field('TIMESTAMP', ({ nodes }) => {
    const at = nodes[0]?.drained?.at;
    return at === undefined ? 'Unknown' : instant(at);
  }),
  // As Slurm says it of a node of which only the cpus are configured.
  z: field('S:C:T', ({ nodes }) => `${least(nodes, ({ total }) => total.cpuCount)}:1:1`),
  s: field('JOB_SIZE', () => '1-infinite'),
  r: field('ROOT', () => 'no'),
  h: field('OVERSUBS', () => 'NO'),
  g: field('GROUPS', () => 'all'),
  d: field('TMP_DISK', () => 0),
  w: field('WEIGHT', () => 1),
};

/** Names of `-O`, by their letters. */
const LETTERS = {
  NodeList: 'N',
  NodeHost: 'n',
  Nodes: 'D',
  NodeAIOT: 'F',
  CPUs: 'c',
  CPUsState: 'C',
  Memory: 'm',
  FreeMem: 'e',
  Gres: 'G',
  Partition: 'P',
  PartitionName: 'R',
  StateLong: 'T',
  StateCompact: 't',
  Available: 'a',
  Time: 'l',
  Features: 'f',
  Reason: 'E',
  User: 'u',
  TimeStamp: 'H',
} as const;

const NAMED = Object.fromEntries(
  Object.entries(LETTERS).map(([name, letter]) => [
    name,
    { ...(FIELDS[letter] as Field<Row>), width: 20 },
  ]),
);

function lettersOf(format: string): string {
  const names = format.split(',').map((word) => word.trim().split(':')[0]?.toLowerCase());
  const shown = Object.entries(LETTERS).filter(([name]) => names.includes(name.toLowerCase()));
  return shown.map(([, letter]) => `%${letter}`).join(' ');
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
