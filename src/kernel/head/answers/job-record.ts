// One job as everything reads it that answers about jobs, whether it is in memory or only the
// history has it; and the row that the history keeps of it.

import { IntervalSet } from '../../base/interval-set.ts';
import type { Job } from '../../machine/jobs/facts.ts';
import { parseIndices } from '../../machine/jobs/indices.ts';
import type { JobId, UserName } from '../../model/ids.ts';
import type { JobSpec, Outcome, OutcomeKind, TaskState } from '../../model/job.ts';
import type { JobRow, TaskRow } from '../../ports/history.ts';
import { digestOf, type KeptSpec, keptSpecOf } from '../kept-spec.ts';
import { formatCommand } from '../program-line.ts';
import { endedAs, jobState, outcomeCounts } from './job-state.ts';

export interface JobRecord {
  readonly id: JobId;
  readonly owner: UserName;
  readonly spec: KeptSpec;
  readonly state: TaskState;
  readonly taskCount: number;
  readonly submittedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly outcome: Outcome | null;
  /** How many of the tasks that are done ended in which way; null: the history does not say. */
  readonly outcomeCounts: Readonly<Record<string, number>> | null;
  /** Null when it has left memory, and all that moves is over. */
  readonly live: Job | null;
}

/** States and counts are worked out when they are read: most readers want to know the owner. */
export function recordOf(job: Job): JobRecord {
  const { id, owner, spec, taskCount, submittedAt, startedAt, endedAt, outcome } = job;
  return {
    id,
    owner,
    spec,
    taskCount,
    submittedAt,
    startedAt,
    endedAt,
    outcome,
    live: job,
    get state() {
      return jobState(job);
    },
    get outcomeCounts() {
      return outcomeCounts(job);
    },
  };
}

/** `row`: of a job that is not in memory. */
export function recordOfRow(row: JobRow): JobRecord {
  return {
    id: row.jobId as JobId,
    owner: row.owner as UserName,
    spec: readSpec(row),
    taskCount: row.taskCount,
    submittedAt: row.submittedAt,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    state: 'done',
    outcome: outcomeOf(row) ?? LOST,
    outcomeCounts: countsOf(row),
    live: null,
  };
}

/** How a job ended that the store says goes on, but of which no record is left (--accept-loss). */
const LOST: Outcome = {
  kind: 'cancelled',
  detail: 'lost: the head went on without its last records',
};

/** What the history keeps of a job: written when it is accepted, changed and done. */
export function rowOf(job: Job): JobRow {
  const { spec, outcome } = job;
  return {
    jobId: job.id,
    name: spec.name,
    owner: job.owner,
    partition: spec.partition,
    command: formatCommand(spec),
    state: outcome === null ? 'active' : 'done',
    outcome: outcome?.kind ?? null,
    exitCode: outcome?.exit?.code ?? null,
    signal: outcome?.exit?.signal ?? null,
    detail: outcome?.detail ?? null,
    taskCount: job.taskCount,
    submittedAt: job.submittedAt,
    startedAt: job.startedAt,
    endedAt: job.endedAt,
    nodeCount: spec.request.nodeCount,
    cpuCount: spec.request.perNode.cpuCount,
    memoryBytes: spec.request.perNode.memoryBytes,
    walltimeMs: spec.walltimeMs ?? 0,
    outcomeCounts: writeCounts(job),
    spec: writeSpec(job),
  };
}

/**
 * How the task with this index ended; undefined while it has not. Where the job has left memory,
 * as if the history had no row of an end of it.
 */
export function taskOutcomeOf(record: JobRecord, index: number): OutcomeKind | undefined {
  if (record.live !== null) return endedAs(record.live, index);
  for (const [kind, indices] of endsOf(record)) if (indices.has(index)) return kind;
  return endWithoutRow(record);
}

/** Ways in which tasks end that wait. At a site they may end in any. */
const WAITING_ENDS: readonly string[] = ['cancelled', 'deadline', 'build_failed'];

const READ_ENDS = new WeakMap<KeptSpec, ReadonlyMap<OutcomeKind, IntervalSet>>();

/** How tasks of an array that has left memory ended where they have no row, for all but one way. */
export function endsOf({ spec }: JobRecord): ReadonlyMap<OutcomeKind, IntervalSet> {
  const known = READ_ENDS.get(spec);
  if (known !== undefined) return known;
  const ends = Object.entries(spec.ends ?? {});
  const read = new Map(ends.map(([kind, text]) => [kind as OutcomeKind, parseIndices(text)]));
  READ_ENDS.set(spec, read);
  return read;
}

/** Characters of them: who cancels each second task of many makes a long list. */
const ENDS_TEXT_MAX = 65_536;

/** What `endsOf` reads: the most frequent way of those in which tasks that wait end is left out. */
function writeEnds({ spec, ended, outcome }: Job): KeptSpec['ends'] {
  if (spec.array === null || outcome === null) return undefined;
  const all = [...ended].filter(([kind, { size }]) => size > 0 && WAITING_ENDS.includes(kind));
  const [, ...others] = all.sort(([, a], [, b]) => b.size - a.size);
  if (others.length === 0) return undefined;
  const ends = Object.fromEntries(others.map(([kind, indices]) => [kind, indices.toString()]));
  const length = Object.values(ends).reduce((sum, text) => sum + text.length, 0);
  return length > ENDS_TEXT_MAX ? undefined : ends;
}

/**
 * How tasks of an array ended that never started, and so have no row of their end, nor another
 * record of it: as most of those that the job counts so. `counted`: how those with a row ended,
 * where all were read.
 */
export function endWithoutRow(
  record: JobRecord,
  counted: ReadonlyMap<string, number> | null = null,
): OutcomeKind {
  const { outcome, outcomeCounts } = record;
  const known = endsOf(record);
  const left = Object.entries(outcomeCounts ?? {}).flatMap(([kind, count]) => {
    if (counted === null && !WAITING_ENDS.includes(kind)) return [];
    if (known.has(kind as OutcomeKind)) return [];
    const size = count - (counted?.get(kind) ?? 0);
    return size > 0 ? [{ kind: kind as OutcomeKind, size }] : [];
  });
  const [most] = left.sort((a, b) => b.size - a.size);
  return most?.kind ?? outcome?.kind ?? 'cancelled';
}

/** The indices of its tasks; that of a plain job's only task is 0. */
export function indicesOfRecord({ spec: { array } }: JobRecord): IntervalSet {
  return array === null ? IntervalSet.of([[0, 0]]) : parseIndices(array.indices);
}

/** Tells whether another submission has the same items; undefined: it has none. */
export function itemsDigestOf({ live, spec }: JobRecord): string | undefined {
  return live === null ? spec.itemsDigest : digestOf(live.spec.each);
}

/** Null while the row says that the job is not done. */
export function outcomeOf(
  row: Pick<JobRow | TaskRow, 'outcome' | 'exitCode' | 'signal' | 'detail'>,
): Outcome | null {
  if (row.outcome === null) return null;
  const exit =
    row.exitCode !== null
      ? { exit: { code: row.exitCode } }
      : row.signal !== null
        ? { exit: { signal: row.signal } }
        : {};
  const detail = row.detail === null ? {} : { detail: row.detail };
  return { kind: row.outcome as OutcomeKind, ...exit, ...detail };
}

/** Null: not an array that is done. */
export function readCounts({ outcomeCounts }: JobRow): Record<string, number> | null {
  return outcomeCounts === null ? null : (JSON.parse(outcomeCounts) as Record<string, number>);
}

function readSpec(row: JobRow): KeptSpec {
  return JSON.parse(row.spec) as KeptSpec;
}

/** The last specification written out: equal jobs share one, and each has two rows in its life. */
let written: { readonly spec: JobSpec; readonly text: string } | null = null;

function writeSpec(job: Job): string {
  const { spec } = job;
  const ends = writeEnds(job);
  if (ends !== undefined) return JSON.stringify({ ...keptSpecOf(spec), ends });
  if (written?.spec === spec) return written.text;
  written = { spec, text: JSON.stringify(keptSpecOf(spec)) };
  return written.text;
}

/** How the tasks of an array ended: the row has room for one outcome only. */
function writeCounts(job: Job): string | null {
  if (job.spec.array === null || job.outcome === null) return null;
  return JSON.stringify(outcomeCounts(job));
}

/** A plain job has one task, and the history keeps no counts of it. */
function countsOf(row: JobRow): Record<string, number> | null {
  const { outcome, taskCount } = row;
  const counts = readCounts(row);
  if (counts !== null) return counts;
  return outcome !== null && taskCount === 1 ? { [outcome]: 1 } : null;
}
