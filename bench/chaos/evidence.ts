// What the judge looks at: what was asked for, what the processes wrote themselves, what the head's
// books say, and what was broken when.

import type { HistoryJob, HistoryTask } from '../../src/kernel/api/history.ts';
import type { Given } from './site/evidence.ts';

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
  /** Bytes of its file, which is brought to it and of which it leaves a copy; null: it has none. */
  readonly fileBytes: number | null;
  /** A node of the steered site, or any of its nodes by its own name; null: nodes of our own. */
  readonly at: string | null;
}

/** What came back: one job id for each time that it was sent, and when. */
export interface Accepted {
  readonly work: Work;
  readonly jobIds: readonly number[];
  readonly answeredAt: readonly number[];
}

/** One process, by its receipts. Times are ms since 1970, by the clock that all hosts share. */
export interface Life {
  /** `42` or `42[7]`. */
  readonly task: string;
  /** Key of the work that it was started for. */
  readonly key: string;
  readonly epoch: number;
  readonly host: string;
  readonly nodeRank: number;
  readonly rank: number;
  readonly pid: number;
  readonly from: number;
  /** The instant of the last receipt. */
  readonly until: number;
  /** Came to its end by itself. */
  readonly ended: boolean;
  /** Times in which it ran without a pause. */
  readonly runs: readonly Span[];
}

export interface Span {
  readonly from: number;
  readonly until: number;
}

export type FaultyPart =
  | 'agent'
  | 'launcher'
  | 'network'
  | 'head'
  | 'store'
  | 'identity'
  | 'gateway';

/**
 * Something of a host did not work: killed, stopped, cut off, or without power; its folder put back
 * from a copy, or a second machine beside it that has a copy of its folder.
 */
export interface Outage extends Span {
  readonly host: string;
  readonly how: 'kill' | 'stop' | 'cut' | 'off' | 'restore' | 'clone';
  readonly parts: readonly FaultyPart[];
}

/** A head's folder was put back; what it had accepted between the first two may be lost. */
export interface Restore {
  /** Just before it was copied. */
  readonly copiedAt: number;
  /** The head was killed, and started from the copy. */
  readonly putBackAt: number;
  /** When it says that records are missing; null: never. */
  readonly toldAt: number | null;
  /** When it is killed, to be told to go on. */
  readonly endedAt: number;
  /** When it says that it goes on without them. */
  readonly goesOnAt: number | null;
}

/** A second machine had a copy of a node's folder. */
export interface Clone extends Span {
  readonly node: string;
  readonly host: string;
  /** The node itself was cut off meanwhile: the copy may be taken for it where it holds nothing. */
  readonly isAlone: boolean;
  /** What the head said of the two; null: it said nothing. */
  readonly told: string | null;
}

/** A copy of a whole cluster's folder was started and stopped, or only stopped, beside it. */
export interface CopyTrial {
  readonly at: number;
  readonly said: readonly string[];
  /** Daemons of the original whose process is another one afterwards, or is gone. */
  readonly replaced: readonly string[];
  /** The original's task that ran meanwhile: how often it was started there, and how it ended. */
  readonly starts: number;
  readonly ended: string;
}

/** What somebody without rights read of all command lines. */
export interface Spied {
  readonly scans: number;
  readonly lines: number;
  /** Saw what was put there to be seen. */
  readonly sawDecoy: boolean;
  /** Command lines with something in them that is secret, which is blotted out. */
  readonly found: readonly string[];
}

/** What the head has in the end of what a task with a file left. */
export interface Kept {
  readonly key: string;
  readonly jobId: number;
  /** Null: all of it; else what is wrong. */
  readonly wrong: string | null;
}

/** Uploads that bring next to nothing. */
export interface SlowUploads {
  readonly begun: number;
  /** Time that one of them lasted. */
  readonly longestMs: number;
  /** Status codes of its answers. */
  readonly said: readonly string[];
}

/** A task's processes on one host stood still by order. */
export interface Stop extends Span {
  readonly task: string;
  readonly epoch: number;
  readonly host: string;
}

export interface SetAside extends Span {
  readonly name: string;
  /** The answer came. */
  readonly madeAt: number;
  readonly hosts: readonly string[];
  /** Cpus of each host. */
  readonly cpus: number;
}

/** A step that somebody started in a job that ran, and what came of it to them. */
export interface StepTrial extends Span {
  readonly key: string;
  /** `42.0`. */
  readonly id: string;
  readonly host: string;
  readonly beats: number;
  readonly exitCode: number;
  /** Null: it was never told. */
  readonly code: number | null;
  readonly why: string | null;
  /** Lines that came, in order. */
  readonly lines: number;
  /** The first thing that was not the next line; null: there was none. */
  readonly broken: string | null;
}

export interface StepTrials {
  readonly trials: readonly StepTrial[];
  /** By their codes: what the head refused, or whose answer was lost. */
  readonly refused: Readonly<Record<string, number>>;
  readonly lives: readonly Life[];
}

/** A call of a Python program, and what it was told. */
export interface CallTrial extends Span {
  readonly key: string;
  readonly beats: number;
  /** How often it may be tried again when its worker is lost. */
  readonly retries: number;
  /** `value`, or the name of what was raised; null: it was never told. */
  readonly end: string | null;
  /** The value, or the text of what was raised. */
  readonly words: string;
}

export interface CallTrials {
  readonly trials: readonly CallTrial[];
  /** By what was raised: calls that could not be made. */
  readonly refused: Readonly<Record<string, number>>;
  readonly lives: readonly Life[];
  /** How the program that makes them ended; not 0: calls of it may be left untold. */
  readonly exitCode: number | null;
}

/** A steered site, and what its own users have there. */
export interface SiteEvidence {
  readonly given: readonly Given[];
  /** Tasks are `4711`, or `4711_2` of an array. */
  readonly lives: readonly Life[];
  /** Those of the head's that stand for jobs of the site's users. */
  readonly jobs: readonly HistoryJob[];
  readonly tasks: readonly HistoryTask[];
  readonly cpusPerNode: number;
}

export interface Evidence {
  readonly accepted: readonly Accepted[];
  readonly lives: readonly Life[];
  readonly jobs: readonly HistoryJob[];
  readonly tasks: readonly HistoryTask[];
  readonly stops: readonly Stop[];
  readonly outages: readonly Outage[];
  /** The machine was too busy to run the bench itself. */
  readonly stalls: readonly Span[];
  readonly setAside: readonly SetAside[];
  readonly restores: readonly Restore[];
  readonly clones: readonly Clone[];
  readonly copies: readonly CopyTrial[];
  readonly spied: Spied | null;
  readonly kept: readonly Kept[];
  /** When the head did not have contents that had just been sent to it. */
  readonly lacked: readonly number[];
  readonly slow: SlowUploads | null;
  readonly steps: StepTrials | null;
  /** Null: this machine has no Python for it. */
  readonly calls: CallTrials | null;
  /** Null: there was none. */
  readonly site: SiteEvidence | null;
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
  | 'one id for two jobs'
  | 'not told'
  | 'started while records were missing'
  | 'ran on a copy'
  | 'a copy harmed its original'
  | 'a secret on a command line'
  | 'a kept file is gone'
  | 'not slow'
  | 'nobody asked'
  | 'end without receipt'
  | 'rank missing'
  | 'started twice'
  | 'twice at once'
  | 'run again'
  | 'in a reservation'
  | 'outside its reservation'
  | 'more than a node has'
  | 'on a node it does not want'
  | 'ran while suspended'
  | 'ran over its limit'
  | 'ran on'
  | 'a step is lost'
  | 'a step said otherwise'
  | 'a call is lost'
  | 'a call said otherwise'
  | 'books';

export interface Verdict {
  readonly violations: readonly Violation[];
  /** What is allowed, and how often it was seen. */
  readonly counted: Readonly<Record<string, number>>;
}
