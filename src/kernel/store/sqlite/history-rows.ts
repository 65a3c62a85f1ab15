// History rows as the values of their columns: how they cross to the store's thread and how they
// are written. An array of values costs the main thread half of what an object with keys does.

import type { HistoryRow, JobRow, TaskRow } from '../../ports/history.ts';
import type { Connection } from './connection.ts';

export type Value = string | number | null;

export interface PackedHistory {
  readonly jobs: readonly (readonly Value[])[];
  readonly tasks: readonly (readonly Value[])[];
}

/** Column of each field, in the order of `jobValues`. */
export const JOB_COLUMNS = {
  jobId: 'job_id',
  name: 'name',
  owner: 'owner',
  partition: 'partition',
  command: 'command',
  state: 'state',
  outcome: 'outcome',
  exitCode: 'exit_code',
  signal: 'signal',
  detail: 'detail',
  taskCount: 'task_count',
  submittedAt: 'submitted_at',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  nodeCount: 'node_count',
  cpuCount: 'cpu_count',
  memoryBytes: 'memory_bytes',
  walltimeMs: 'walltime_ms',
  outcomeCounts: 'outcome_counts',
  spec: 'spec',
} as const satisfies Record<keyof JobRow, string>;

/** Column of each field, in the order of `taskValues`. */
export const TASK_COLUMNS = {
  jobId: 'job_id',
  taskIndex: 'task_index',
  epoch: 'epoch',
  final: 'final',
  outcome: 'outcome',
  exitCode: 'exit_code',
  signal: 'signal',
  detail: 'detail',
  nodes: 'nodes',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  userUs: 'user_us',
  systemUs: 'system_us',
  memoryPeakBytes: 'memory_peak_bytes',
  gpuCount: 'gpu_count',
  gpuType: 'gpu_type',
  heldCpus: 'held_cpus',
  heldMemoryBytes: 'held_memory_bytes',
} as const satisfies Record<keyof TaskRow, string>;

export function packHistory(history: readonly HistoryRow[]): PackedHistory {
  const jobs: Value[][] = [];
  const tasks: Value[][] = [];
  for (const entry of history) {
    if (entry.kind === 'job') jobs.push(jobValues(entry.row));
    else tasks.push(taskValues(entry.row));
  }
  return { jobs, tasks };
}

/** Inserts or replaces; the caller holds the transaction. */
export function writeHistory(connection: Connection, history: PackedHistory): void {
  if (history.jobs.length > 0) {
    const upsert = connection.statement(UPSERT_JOB);
    for (const values of history.jobs) upsert.run(...values);
  }
  if (history.tasks.length > 0) {
    const upsert = connection.statement(UPSERT_TASK);
    for (const values of history.tasks) upsert.run(...values);
  }
}

// Spelt out, as a loop over the field names takes four times as long on the main thread.
function jobValues(row: JobRow): Value[] {
  return [
    row.jobId,
    row.name,
    row.owner,
    row.partition,
    row.command,
    row.state,
    row.outcome,
    row.exitCode,
    row.signal,
    row.detail,
    row.taskCount,
    row.submittedAt,
    row.startedAt,
    row.endedAt,
    row.nodeCount,
    row.cpuCount,
    row.memoryBytes,
    row.walltimeMs,
    row.outcomeCounts,
    row.spec,
  ];
}

function taskValues(row: TaskRow): Value[] {
  return [
    row.jobId,
    row.taskIndex,
    row.epoch,
    row.final ? 1 : 0,
    row.outcome,
    row.exitCode,
    row.signal,
    row.detail,
    row.nodes,
    row.startedAt,
    row.endedAt,
    row.userUs,
    row.systemUs,
    row.memoryPeakBytes,
    row.gpuCount,
    row.gpuType,
    row.heldCpus,
    row.heldMemoryBytes,
  ];
}

const UPSERT_JOB = upsert('jobs', Object.values(JOB_COLUMNS), 1);
const UPSERT_TASK = upsert('tasks', Object.values(TASK_COLUMNS), 3);

/** The first `keyCount` columns are the key. An update leaves unchanged indexes alone. */
function upsert(table: string, columns: readonly string[], keyCount: number): string {
  const key = columns.slice(0, keyCount).join(', ');
  const changes = columns.slice(keyCount).map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${table} (${columns.join(', ')})
    VALUES (${columns.map(() => '?').join(', ')})
    ON CONFLICT (${key}) DO UPDATE SET ${changes.join(', ')}`;
}
