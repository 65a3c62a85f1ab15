// The history that outlives memory: a row per job and per ended task. Plain columns, so that it can
// be asked with SQL.

import type { RecordedUsageKey } from '../model/usage-keys.ts';

/** Written at submission and again when the job changes or is done. */
export interface JobRow {
  readonly jobId: number;
  readonly name: string;
  readonly owner: string;
  readonly partition: string;
  /** For people: the command as one line. */
  readonly command: string;
  readonly state: string;
  /** Null until done. */
  readonly outcome: string | null;
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly detail: string | null;
  readonly taskCount: number;
  readonly submittedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly nodeCount: number;
  readonly cpuCount: number;
  readonly memoryBytes: number;
  /** 0: without a limit. */
  readonly walltimeMs: number;
  /** How many tasks of an array that is done ended in which way, as JSON; else null. */
  readonly outcomeCounts: string | null;
  /** The specification as JSON, without the environment (it can hold secrets) and the items. */
  readonly spec: string;
}

/** One ended epoch of a task; the last epoch's row says how the task ended. */
export interface TaskRow {
  readonly jobId: number;
  /** -1 for a plain job's only task. */
  readonly taskIndex: number;
  readonly epoch: number;
  /** False: requeued, another epoch follows. */
  readonly final: boolean;
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly detail: string | null;
  /** Comma separated, in rank order. */
  readonly nodes: string;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly userUs: number;
  readonly systemUs: number;
  readonly memoryPeakBytes: number;
  /** Gpus held on all its nodes. Null: a row from before they were counted. */
  readonly gpuCount: number | null;
  /** Their type; of several `a100-80g+t4`. Null: not known, or none. */
  readonly gpuType: string | null;
  /** Sums over its nodes, which it had whole. Null: it held what its job asks for, on each. */
  readonly heldCpus: number | null;
  readonly heldMemoryBytes: number | null;
}

export type HistoryRow =
  | { readonly kind: 'job'; readonly row: JobRow }
  | { readonly kind: 'task'; readonly row: TaskRow };

/**
 * All parts must hold; `limit` rows at most, newest job first, then by index and epoch. For tasks,
 * `outcome` is the task's own; `owner`, `state`, `name` and the submission are their job's.
 */
export interface HistoryQuery {
  readonly jobIds?: readonly number[];
  readonly owner?: string;
  readonly state?: string;
  /** One, or the word for all that are failures. */
  readonly outcome?: string;
  readonly name?: string;
  /** Submitted at or after, and before. */
  readonly submittedFrom?: number;
  readonly submittedUntil?: number;
  /** Only jobs with an id below this one: paging. */
  readonly belowJobId?: number;
  /** And none below this: how much is looked at. */
  readonly fromJobId?: number;
  /** Lower-case words, all of which stand somewhere in `searchText` of the job. */
  readonly words?: readonly string[];
  /** Tasks only. */
  readonly taskIndex?: number;
  /** Tasks only: of each task the last epoch that has ended. */
  readonly lastEpochs?: boolean;
  /** Tasks only: those that come after this one in the order above; paging within an array. */
  readonly afterTask?: {
    readonly jobId: number;
    readonly taskIndex: number;
    readonly epoch: number;
  };
  /**
   * Tasks only: those that have started and ended, at or after `from`, and on this node if one is
   * named. Then the newest end is first, and there is no paging by job or task.
   */
  readonly ended?: { readonly from: number; readonly node?: string };
  /** Jobs only: `spec` is empty. It may hold a long script. */
  readonly withoutSpecs?: boolean;
  readonly limit: number;
}

/** Where words are looked for. The store in SQL puts the same together. */
export function searchText(row: JobRow): string {
  const { jobId, name, owner, partition, command, outcome, state } = row;
  return [jobId, name, owner, partition, command, outcome ?? state].join('\n');
}

/** What tasks used, added up: of the ends within a time, by one word of theirs and by time. */
export interface UsageQuery {
  readonly by: RecordedUsageKey;
  readonly owner?: string;
  readonly partition?: string;
  /** Tasks that ended at or after, and before; ms since 1970. */
  readonly from: number;
  readonly until: number;
  /** Width of a row in time, counted from `from`; null: one row for all of it. */
  readonly stepMs: number | null;
}

/** A start counts whole where it ended. */
export interface UsageRow {
  readonly key: string;
  /** Number of the step, from 0. */
  readonly step: number;
  /** Starts that ended, and those of them that ended their task. */
  readonly starts: number;
  readonly tasks: number;
  /** Cpus asked for on all nodes, times the time they were held. */
  readonly cpuMs: number;
  /** Bytes asked for on all nodes, times the time they were held. */
  readonly memoryByteMs: number;
  /** Gpus held on all nodes, times that time. */
  readonly gpuMs: number;
  /** Cpu time that the processes used. */
  readonly usedUs: number;
}
