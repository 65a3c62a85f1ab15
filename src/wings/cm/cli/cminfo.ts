// `cminfo`: the seed's three tables. Any user may call it, on any machine that reaches the head.

import type { InfoReply } from '../../../kernel/api/cluster.ts';
import type { JobView } from '../../../kernel/api/jobs.ts';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { type Column, formatTable } from '../../../kernel/cli/output/table.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { jobStatus } from './job-words.ts';
import { MEGABYTE } from './numbers.ts';

export const summary = 'Show nodes and jobs.';

/** The seed cuts commands at this length. */
const COMMAND_LENGTH = 20;
/** One page of the API. */
const PAGE_ROWS = 1000;

export const verb = defineVerb<{ all?: boolean }>({
  define: (command) => void command.option('-a, --all', 'also jobs that have ended'),
  async run({ context, options }) {
    const api = await context.api();
    const [info, { nodes }, jobs] = await Promise.all([
      api.call('info'),
      api.call('listNodes'),
      fetchJobs(api, options.all ? 'all' : 'active'),
    ]);
    const lost = new Set(nodes.filter(isLost).map(({ name }) => name));
    const jobRows = jobs.map((job) => ({ job, status: jobStatus(job, lost) }));
    table(context, 'Head nodes', NODE_COLUMNS, [headRow(info)]);
    const rows = nodes.map(nodeRow);
    const gpuColumns = rows.some(({ gpus }) => gpus > 0) ? GPU_COLUMNS : [];
    table(context, 'Compute nodes', [...NODE_COLUMNS, ...gpuColumns], rows);
    table(context, 'Jobs', JOB_COLUMNS, jobRows);
    return 0;
  },
});

/** All pages, and the oldest job first. */
async function fetchJobs(api: Api, state: 'all' | 'active'): Promise<JobView[]> {
  const found: JobView[] = [];
  let before: number | undefined;
  for (;;) {
    const page = { state, limit: PAGE_ROWS, ...(before === undefined ? {} : { before }) };
    const { jobs, next } = await api.call('listJobs', { query: page });
    found.push(...jobs);
    if (next === null) return found.reverse();
    before = next;
  }
}

function isLost({ state }: NodeView): boolean {
  return state === 'unreachable';
}

interface NodeRow {
  readonly name: string;
  readonly status: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly cpusFree: number;
  readonly memoryFreeBytes: number;
  readonly gpus: number;
  readonly gpusFree: number;
}

const NODE_COLUMNS: Column<NodeRow>[] = [
  { title: 'Node', value: (row) => row.name },
  { title: 'Status', value: (row) => row.status },
  { title: '# CPUs', value: (row) => String(row.cpus), align: 'right' },
  { title: 'Memory', value: (row) => megabytes(row.memoryBytes), align: 'right' },
  { title: '# Free CPUs', value: (row) => String(row.cpusFree), align: 'right' },
  { title: 'Free Memory', value: (row) => megabytes(row.memoryFreeBytes), align: 'right' },
];

/** The seed named gpus and counted none: no columns where there are none. */
const GPU_COLUMNS: Column<NodeRow>[] = [
  { title: '# GPUs', value: (row) => String(row.gpus), align: 'right' },
  { title: '# Free GPUs', value: (row) => String(row.gpusFree), align: 'right' },
];

interface JobRow {
  readonly job: JobView;
  readonly status: string;
}

const JOB_COLUMNS: Column<JobRow>[] = [
  { title: 'ID', value: ({ job }) => String(job.id), align: 'right' },
  { title: 'Name', value: ({ job }) => job.name },
  { title: 'User', value: ({ job }) => job.owner },
  { title: 'Status', value: ({ status }) => status },
  { title: 'Command', value: ({ job }) => shortCommand(job) },
  { title: 'Nodes', value: ({ job }) => job.nodes.join(', ') },
];

function table<Row>(
  context: Context,
  title: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  context.print(title);
  for (const line of formatTable(columns, rows, 'main', context.look)) context.print(`  ${line}`);
  context.print('');
}

/** Nothing runs on the head: all that it has is free. */
function headRow({ head }: InfoReply): NodeRow {
  const { hostname, cpuCount: cpus, memoryBytes } = head;
  const free = { cpusFree: cpus, memoryFreeBytes: memoryBytes, gpus: 0, gpusFree: 0 };
  return { name: hostname, status: 'Up', cpus, memoryBytes, ...free };
}

/** The seed's words, and the reasons that it knew but never showed. */
function nodeRow(node: NodeView): NodeRow {
  const reasons = reasonsOf(node);
  return {
    name: node.name,
    status: reasons.length === 0 ? stateWord(node) : `${stateWord(node)} (${reasons.join(', ')})`,
    cpus: node.total.cpuCount,
    memoryBytes: node.total.memoryBytes,
    cpusFree: node.free.cpuCount,
    memoryFreeBytes: node.free.memoryBytes,
    gpus: node.total.gpuCount,
    gpusFree: node.free.gpuCount,
  };
}

function stateWord(node: NodeView): string {
  if (node.state !== 'up') return 'Down';
  return node.running.length > 0 ? 'InUse' : 'Idle';
}

function reasonsOf({ state, maintenance, fault, paused, drained }: NodeView): string[] {
  return [
    ...(state === 'up' ? [] : [state.replace('_', ' ')]),
    ...(maintenance?.begun ? [`maintenance: ${maintenance.reason}`] : []),
    ...(fault === null ? [] : [fault]),
    ...(paused === null ? [] : ['paused']),
    ...(drained === null ? [] : [`drained: ${drained.reason}`]),
  ];
}

function shortCommand({ command }: JobView): string {
  return [...command].slice(0, COMMAND_LENGTH).join('');
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE)} MB`;
}
