// What the judge looks at: what was asked for, what the processes wrote themselves, what the head's
// books say, and what was broken when.

import type { HistoryJob, HistoryTask } from '../../src/api/history.ts';

export type LossRule = 'requeue' | 'wait' | 'lease';

/** A job as it was asked for; its key is its name. */
export interface Work {
  readonly key: string;
  readonly partition: string;
  /** Tasks 0 to n-1 of an array; null: a plain job. */
  readonly arraySize: number | null;
  readonly nodeCount: number;
  readonly processesPerNode: number;
  /** Cpus of each node. */
  readonly cpuCount: number;
  readonly onLoss: LossRule;
  /** False: a lost node ends it. */
  readonly requeue: boolean;
  readonly retriesMax: number;
  readonly limitMs: number;
  /** Tenths of a second that each process runs. */
  readonly beats: number;
  readonly exitCode: number;
  /** Takes no notice of SIGTERM. */
  readonly stubborn: boolean;
  readonly reservation: string | null;
  /** Sent again with the same key. */
  readonly twice: boolean;
}

/** What came back: one job id for each time that it was sent. */
export interface Accepted {
  readonly work: Work;
  readonly jobIds: readonly number[];
}

/** One process, by its receipts. Times are ms since 1970, by the clock that all hosts share. */
export interface Life {
  /** `42` or `42[7]`. */
  readonly task: string;
  readonly epoch: number;
  readonly host: string;
  readonly nodeRank: number;
  readonly rank: number;
  readonly pid: number;
  readonly from: number;
  /** The instant of the last receipt. */
  readonly until: number;
  /** It came to its end by itself. */
  readonly ended: boolean;
  /** Times in which it ran without a pause. */
  readonly runs: readonly Span[];
}

export interface Span {
  readonly from: number;
  readonly until: number;
}

export type Part = 'agent' | 'launcher' | 'network' | 'head';

/** Something of a host did not work: killed, stopped, cut off, or without power. */
export interface Outage extends Span {
  readonly host: string;
  readonly how: 'kill' | 'stop' | 'cut' | 'off';
  readonly parts: readonly Part[];
}

/** A task's processes on one host stood still by order. */
export interface Stop extends Span {
  readonly task: string;
  readonly epoch: number;
  readonly host: string;
}

export interface SetAside extends Span {
  readonly name: string;
  readonly hosts: readonly string[];
  /** Cpus of each host. */
  readonly cpus: number;
}

export interface Evidence {
  readonly accepted: readonly Accepted[];
  readonly lives: readonly Life[];
  readonly jobs: readonly HistoryJob[];
  readonly tasks: readonly HistoryTask[];
  readonly stops: readonly Stop[];
  readonly outages: readonly Outage[];
  readonly setAside: readonly SetAside[];
  readonly cpusPerHost: number;
  readonly killGraceMs: number;
}

/** A rule that is broken, in words that name the task. */
export interface Violation {
  readonly rule: Rule;
  readonly words: string;
}

export type Rule =
  | 'lost'
  | 'two jobs for a key'
  | 'nobody asked'
  | 'end without receipt'
  | 'rank missing'
  | 'started twice'
  | 'twice at once'
  | 'run again'
  | 'in a reservation'
  | 'outside its reservation'
  | 'more than a node has'
  | 'ran while suspended'
  | 'ran over its limit'
  | 'ran on'
  | 'books';

export interface Verdict {
  readonly violations: readonly Violation[];
  /** What is allowed, and how often it was seen. */
  readonly counted: Readonly<Record<string, number>>;
}
