// History rows and journal bytes for tests: plausible, and different for each id.

import type { HistoryRow, JobRow, TaskRow } from '../../../../../src/kernel/ports/history.ts';
import type { Commit, Given } from '../../../../../src/kernel/ports/store.ts';

export function jobRow(jobId: number, changes: Partial<JobRow> = {}): JobRow {
  return {
    jobId,
    name: `sweep-${jobId}`,
    owner: 'alice',
    partition: 'main',
    command: './solve --quietly',
    state: 'pending',
    outcome: null,
    exitCode: null,
    signal: null,
    detail: null,
    taskCount: 1,
    submittedAt: 1_700_000_000_000 + jobId,
    startedAt: null,
    endedAt: null,
    nodeCount: 1,
    cpuCount: 2,
    memoryBytes: 104_857_600,
    walltimeMs: 3_600_000,
    outcomeCounts: null,
    spec: '{"name":"sweep"}',
    ...changes,
  };
}

export function taskRow(jobId: number, changes: Partial<TaskRow> = {}): TaskRow {
  return {
    jobId,
    taskIndex: -1,
    epoch: 1,
    final: true,
    outcome: 'completed',
    exitCode: 0,
    signal: null,
    detail: null,
    nodes: 'n1,n2',
    startedAt: 1_700_000_001_000,
    endedAt: 1_700_000_002_000,
    userUs: 1_500_000,
    systemUs: 250_000,
    memoryPeakBytes: 20_971_520,
    gpuCount: 0,
    gpuType: null,
    heldCpus: null,
    heldMemoryBytes: null,
    ...changes,
  };
}

export function job(jobId: number, changes: Partial<JobRow> = {}): HistoryRow {
  return { kind: 'job', row: jobRow(jobId, changes) };
}

export function task(jobId: number, changes: Partial<TaskRow> = {}): HistoryRow {
  return { kind: 'task', row: taskRow(jobId, changes) };
}

/** Journal bytes that name their record, so that a mixed-up one is seen. */
export function bytesOf(seq: number, length = 40): Uint8Array {
  return Buffer.from(`record ${seq} `.padEnd(length, '.'));
}

export function commitOf(seq: number, history: readonly HistoryRow[] = [], length = 40): Commit {
  return { seq, bytes: bytesOf(seq, length), history, given: givenAt(seq) };
}

/** What was given out if each record gave out one job id. */
export function givenAt(seq: number): Given {
  return { nextJobId: seq + 1, nextReservationId: 1, epochMax: 1 };
}
