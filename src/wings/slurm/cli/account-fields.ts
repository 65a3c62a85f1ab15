// Columns of `sacct`, and a row as `sacct --json` writes it.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { Field } from '../core/formats.ts';
import { compressHosts } from '../core/hostlist.ts';
import { formatLong, formatUsed } from '../core/times.ts';
import type { Row } from './account-rows.ts';
import { accountOf } from './accounts.ts';
import { instant } from './instants.ts';
import { commandLine } from './job-rows.ts';

/** Columns without `--format`. */
export const USUAL = 'JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode';
/** Columns of `--long`. */
export const LONG =
  'JobID,JobIDRaw,JobName,Partition,MaxRSS,NTasks,AllocCPUS,Elapsed,State,ExitCode,AveCPU,ReqMem,AllocTRES';

const field = (
  title: string,
  width: number,
  of: (row: Row) => string | number,
): Field<Row> & { width: number } => ({
  title,
  width,
  value: (row) => String(of(row)),
});

const elapsedMs = ({ startedAt, endedAt }: Row): number =>
  startedAt === null ? 0 : (endedAt ?? headNow()) - startedAt;
const nodeCount = ({ job, own }: Row): number => own?.nodeCount ?? job.nodeCount;
const cpus = ({ job, own, whole }: Row): number =>
  (own ?? whole)?.cpuCount ?? job.cpuCount * job.nodeCount;
/** MiB on so many nodes: of whole ones all, else what was asked for on each. */
const memoryOn = (nodes: number, { job, whole }: Row): number =>
  Math.floor((whole?.memoryBytes ?? job.memoryBytes * nodes) / 1_048_576);
const asked = ({ whole: _, ...row }: Row): Row => ({
  ...row,
  gpuCount: row.gpusAsked ?? row.gpuCount,
});
const tres = (row: Row): string => {
  const memory = memoryOn(nodeCount(row), row);
  const gpus = row.gpuCount > 0 ? `,gres/gpu=${row.gpuCount}` : '';
  return `cpu=${cpus(row)},mem=${memory}M,node=${nodeCount(row)}${gpus}`;
};
const waited = ({ job, startedAt, part }: Row): string =>
  startedAt === null || part !== null ? '' : formatLong(startedAt - job.submittedAt);

/** Columns of sacct that stay empty: the records have nothing of them. */
const UNKNOWN =
  `AdminComment AssocID AveCPUFreq AveDiskRead AveDiskWrite AvePages AveRSS AveVMSize BlockID
  Comment Constraints ConsumedEnergy ConsumedEnergyRaw Container DBIndex Flags Layout Licenses
  MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask MaxPages
  MaxPagesNode MaxPagesTask MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask McsLabel MinCPU
  MinCPUNode MinCPUTask Priority QOS QOSRAW Reason ReqCPUFreq ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin
  ReqNodes Reservation ReservationId ResvCPU ResvCPURAW SystemComment TRESUsageInAve TRESUsageInMax
  TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin TRESUsageInMinNode TRESUsageInMinTask
  TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask
  TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot WCKey WCKeyID WorkDir`.split(
    /\s+/,
  );

/** Columns by their names. */
export const FIELDS = Object.fromEntries(
  [
    field('JobID', 12, ({ id }) => id),
    field('JobIDRaw', 12, ({ id }) => id),
    field('JobName', 10, ({ job, part }) => part ?? job.name),
    field('User', 9, ({ job, part }) => (part === null ? job.owner : '')),
    field('Partition', 10, ({ job, part }) => (part === null ? job.partition : '')),
    field('UID', 6, ({ job, part }) => (part === null ? (accountOf(job.owner)?.uid ?? '') : '')),
    field('GID', 6, ({ job, part }) => (part === null ? (accountOf(job.owner)?.gid ?? '') : '')),
    field('Group', 9, ({ job, part }) =>
      part === null ? (accountOf(job.owner)?.group ?? '') : '',
    ),
    field('Account', 10, () => ''),
    field('AllocCPUS', 10, cpus),
    field('NCPUS', 10, cpus),
    field('ReqCPUS', 8, (row) => cpus(asked(row))),
    field('AllocNodes', 10, nodeCount),
    field('NNodes', 8, nodeCount),
    field('NTasks', 8, ({ ranks }) => ranks ?? ''),
    // As in Slurm, what never started was given nothing.
    field('AllocTRES', 10, (row) => (row.startedAt === null ? '' : tres(row))),
    field('ReqTRES', 10, (row) => tres(asked(row))),
    field('ReqMem', 10, (row) => `${memoryOn(row.job.nodeCount, asked(row))}M`),
    field('State', 10, ({ state }) => state.long),
    field('ExitCode', 8, ({ exit }) => `${exit.code}:${exit.signal}`),
    field('DerivedExitCode', 15, ({ exit }) => `${exit.code}:0`),
    field('Submit', 19, ({ job }) => instant(job.submittedAt)),
    field('Start', 19, ({ startedAt }) => (startedAt === null ? 'Unknown' : instant(startedAt))),
    field('End', 19, ({ endedAt }) => (endedAt === null ? 'Unknown' : instant(endedAt))),
    field('Elapsed', 10, (row) => formatLong(elapsedMs(row))),
    field('ElapsedRaw', 10, (row) => Math.floor(elapsedMs(row) / 1000)),
    field('Timelimit', 10, ({ job }) =>
      job.walltimeMs === null ? 'UNLIMITED' : formatLong(job.walltimeMs),
    ),
    field('NodeList', 15, ({ nodes }) =>
      nodes.length === 0 ? 'None assigned' : compressHosts(nodes),
    ),
    field('MaxRSS', 10, ({ used, part }) =>
      used === null || part === null ? '' : `${Math.ceil(used.memoryPeakBytes / 1024)}K`,
    ),
    field('AveCPU', 10, ({ used, part, ranks = 1 }) =>
      used === null || part === null
        ? ''
        : formatLong((used.userUs + used.systemUs) / 1000 / ranks),
    ),
    field('TotalCPU', 10, ({ used }) =>
      formatUsed(used === null ? 0 : (used.userUs + used.systemUs) / 1000),
    ),
    field('UserCPU', 10, ({ used }) => formatUsed((used?.userUs ?? 0) / 1000)),
    field('SystemCPU', 10, ({ used }) => formatUsed((used?.systemUs ?? 0) / 1000)),
    field('CPUTime', 10, (row) => formatLong(elapsedMs(row) * cpus(row))),
    field('CPUTimeRAW', 10, (row) => Math.floor(elapsedMs(row) / 1000) * cpus(row)),
    field('Cluster', 10, () => ''),
    field('Eligible', 19, ({ job }) => instant(job.submittedAt)),
    field('Reserved', 10, waited),
    field('Planned', 10, waited),
    field('Suspended', 10, () => formatLong(0)),
    field('TimelimitRaw', 12, ({ job }) =>
      job.walltimeMs === null ? 'UNLIMITED' : Math.ceil(job.walltimeMs / 60_000),
    ),
    field('SubmitLine', 20, ({ job, part }) => (part === null ? commandLine(job.command) : '')),
    ...UNKNOWN.map((name) => field(name, 10, () => '')),
  ].map((one) => [one.title, one]),
);

const seconds = (at: number | null): number => (at === null ? 0 : Math.floor(at / 1000));

/** The same as AllocTRES and ReqTRES, by the numbers that Slurm has for kinds of them. */
function tresList(row: Row): object[] {
  const memory = memoryOn(nodeCount(row), row);
  const gpus = { type: 'gres', name: 'gpu', id: 1001, count: row.gpuCount };
  return [
    { type: 'cpu', name: null, id: 1, count: cpus(row) },
    { type: 'mem', name: null, id: 2, count: memory },
    { type: 'node', name: null, id: 4, count: nodeCount(row) },
    ...(row.gpuCount > 0 ? [gpus] : []),
  ];
}

const exitCode = ({ exit }: Row): object => ({
  status: exit.signal > 0 ? 'SIGNALED' : 'SUCCESS',
  return_code: exit.code,
  signal: { signal_id: exit.signal },
});

const split = (us: number): object => ({
  seconds: Math.floor(us / 1_000_000),
  microseconds: us % 1_000_000,
});

/** The script of a job or a step of it, in the shape of Slurm's data parser. */
function stepJson(row: Row): object {
  const { id, part, state, startedAt, endedAt, nodes, used, ranks = 1 } = row;
  const { userUs = 0, systemUs = 0, memoryPeakBytes } = used ?? {};
  const peak = { type: 'mem', name: null, id: 2, count: memoryPeakBytes };
  return {
    step: { id, name: part },
    state: state.long,
    exit_code: exitCode(row),
    nodes: { count: nodes.length, range: compressHosts(nodes), list: nodes },
    tasks: { count: ranks },
    time: {
      start: seconds(startedAt),
      end: seconds(endedAt),
      elapsed: Math.floor(elapsedMs(row) / 1000),
      user: split(userUs),
      system: split(systemUs),
      total: split(userUs + systemUs),
    },
    tres: {
      allocated: tresList(row),
      requested: { max: memoryPeakBytes === undefined ? [] : [peak] },
    },
  };
}

/** Allocations in the shape of Slurm's data parser, each with its own steps. */
export function json(rows: readonly Row[]): object[] {
  const parts = rows.filter(({ part }) => part !== null);
  const steps = Map.groupBy(parts, ({ id }) => id.slice(0, id.lastIndexOf('.')));
  const jobs = rows.filter(({ part }) => part === null);
  return jobs.map((row) => jobJson(row, steps.get(row.id) ?? []));
}

function jobJson(row: Row, steps: readonly Row[]): object {
  const { id, job, state, startedAt, endedAt, nodes } = row;
  const index = Number(/_(\d+)$/.exec(id)?.[1] ?? Number.NaN);
  return {
    job_id: job.id,
    array: {
      job_id: Number.isNaN(index) ? 0 : job.id,
      task_id: Number.isNaN(index) ? null : index,
    },
    name: job.name,
    user: job.owner,
    partition: job.partition,
    state: { current: state.long, reason: 'None' },
    exit_code: exitCode(row),
    nodes: nodes.length === 0 ? 'None assigned' : compressHosts(nodes),
    tres: { allocated: startedAt === null ? [] : tresList(row), requested: tresList(asked(row)) },
    time: {
      submission: seconds(job.submittedAt),
      start: seconds(startedAt),
      end: seconds(endedAt),
      elapsed: Math.floor(elapsedMs(row) / 1000),
      limit: job.walltimeMs === null ? null : Math.ceil(job.walltimeMs / 60_000),
    },
    steps: steps.map(stepJson),
  };
}
