// `cminfo`: the seed's three tables. Any user may call it, on any machine that reaches the head.

import type { InfoReply } from '../../api/cluster.ts';
import type { JobView } from '../../api/jobs.ts';
import type { NodeView } from '../../api/nodes.ts';
import type { Config } from '../config/config.ts';
import type { Context } from '../context.ts';
import { type Column, formatTable } from '../output/table.ts';
import { defineVerb } from '../verb.ts';
import { MEGABYTE } from './numbers.ts';

export const summary = 'Show nodes and jobs.';

/** The seed cuts commands at this length. */
const COMMAND_LENGTH = 20;
/** The seed shows all; this is the most that one page of the API has. */
const JOBS_MAX = 1000;

export const verb = defineVerb({
  define: () => undefined,
  async run({ context }) {
    const api = await context.api();
    const [info, { nodes }, { jobs }, config] = await Promise.all([
      api.call('info'),
      api.call('listNodes'),
      api.call('listJobs', { query: { state: 'active', limit: JOBS_MAX } }),
      context.configOrDefaults(),
    ]);
    table(context, 'Head nodes', NODE_COLUMNS, [headRow(info, config)]);
    table(context, 'Compute nodes', NODE_COLUMNS, nodes.map(nodeRow));
    table(context, 'Jobs', JOB_COLUMNS, [...jobs].reverse());
    return 0;
  },
});

interface NodeRow {
  readonly name: string;
  readonly status: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly cpusFree: number;
  readonly memoryFreeBytes: number;
}

const NODE_COLUMNS: Column<NodeRow>[] = [
  { title: 'Node', value: (row) => row.name },
  { title: 'Status', value: (row) => row.status },
  { title: '# CPUs', value: (row) => String(row.cpus), align: 'right' },
  { title: 'Memory', value: (row) => megabytes(row.memoryBytes), align: 'right' },
  { title: '# Free CPUs', value: (row) => String(row.cpusFree), align: 'right' },
  { title: 'Free Memory', value: (row) => megabytes(row.memoryFreeBytes), align: 'right' },
];

const JOB_COLUMNS: Column<JobView>[] = [
  { title: 'ID', value: (job) => String(job.id), align: 'right' },
  { title: 'Name', value: (job) => job.name },
  { title: 'User', value: (job) => job.owner },
  { title: 'Status', value: jobStatus },
  { title: 'Command', value: (job) => shortCommand(job) },
  { title: 'Nodes', value: (job) => job.nodes.join(', ') },
];

function table<Row>(
  context: Context,
  title: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  context.print(title);
  for (const line of formatTable(columns, rows)) context.print(`  ${line}`);
  context.print('');
}

/** Nothing runs on the head: what the configuration says it has is all free. */
function headRow(info: InfoReply, config: Config): NodeRow {
  const cpus = config.number('head.cpus');
  const memoryBytes = config.number('head.memory');
  const { hostname } = info.head;
  const free = { cpusFree: cpus, memoryFreeBytes: memoryBytes };
  return { name: hostname, status: 'Up', cpus, memoryBytes, ...free };
}

/** The seed's words, and the reason that it knew but never showed. */
function nodeRow(node: NodeView): NodeRow {
  const down = node.state === 'up' ? null : node.state === 'never_seen' ? 'never seen' : node.state;
  const status = down !== null ? `Down (${down})` : node.running.length > 0 ? 'InUse' : 'Idle';
  return {
    name: node.name,
    status: node.drained === null ? status : `${status} (drained: ${node.drained.reason})`,
    cpus: node.total.cpuCount,
    memoryBytes: node.total.memoryBytes,
    cpusFree: node.free.cpuCount,
    memoryFreeBytes: node.free.memoryBytes,
  };
}

const STATUS: Readonly<Partial<Record<JobView['state'], string>>> = {
  pending: 'Pending',
  staging_in: 'Started',
  starting: 'Started',
  suspended: 'Suspended',
};

function shortCommand(job: JobView): string {
  return [...job.command].slice(0, COMMAND_LENGTH).join('');
}

function jobStatus(job: JobView): string {
  return STATUS[job.state] ?? 'Running';
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE)} MB`;
}
