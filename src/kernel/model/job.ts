// What a user submits (JobSpec) and the words for a task's life: state, outcome, reason.

import type { BatchLink } from './batch.ts';
import type { ContainerImage } from './container-engine.ts';
import type { JobId, NodeName, UserName } from './ids.ts';
import type { Resources } from './resources.ts';
import type { JobStaging } from './staging.ts';

/** What is run: an argument vector as it is, or text given to a shell. */
export type Program =
  | { readonly kind: 'argv'; readonly argv: readonly string[] }
  | { readonly kind: 'shell'; readonly line: string }
  | { readonly kind: 'script'; readonly text: string; readonly args: readonly string[] };

/** What one task of a list is for: a line of text, or named fields (model/items.ts). */
export type Item = string | Readonly<Record<string, string>>;

/** Where it runs: a directory of its own on the node, or one that its nodes share. */
export type WorkDirectory =
  | { readonly kind: 'private' }
  | { readonly kind: 'shared'; readonly path: string };

/** Files of each process. Patterns with `%` fields (docs/commands/run.md) in the work directory. */
export interface OutputFiles {
  /** Absent: captured by the agent, readable by `weft logs`. */
  readonly stdout?: string;
  readonly stderr?: string;
  /** Files that are there already are gone on with. Absent: begun anew. */
  readonly append?: true;
  /** Absent: /dev/null. Two words stand for no file: `CLIENT_STDIN`, `ATTACHED_STDIN`. */
  readonly stdin?: string;
}

/** Standard input that the submitting client sends, piece by piece, while the job runs. */
export const CLIENT_STDIN = '-';
/** What others bring while the task runs, one after the other: it waits for them. */
export const ATTACHED_STDIN = 'attach';

/** File of standard input; null: /dev/null, or input that people send. */
export function stdinFile({ stdin = CLIENT_STDIN }: Pick<OutputFiles, 'stdin'>): string | null {
  return stdin === CLIENT_STDIN || stdin === ATTACHED_STDIN ? null : stdin;
}

/** n nodes × p processes per node, and what each of the nodes must give. */
export interface ResourceRequest {
  readonly nodeCount: number;
  readonly processesPerNode: number;
  readonly perNode: Resources;
  /** Whole nodes: nobody else runs there meanwhile. */
  readonly exclusive: boolean;
  /** Labels that every node must have. */
  readonly labels: readonly string[];
  /** Only these nodes; empty = any. */
  readonly nodeNames: readonly NodeName[];
  /** Counted resources of the whole cluster: held once, on however many nodes. Absent: none. */
  readonly ofCluster?: Readonly<Record<string, number>>;
}

/** What becomes of a task whose node cannot be reached (design 3.2). */
export type OnNodeLoss =
  | { readonly kind: 'requeue' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'lease'; readonly leaseMs: number };

/** A signal so long before a time that ends what still runs then. */
export interface Warning {
  readonly leadMs: number;
  /** Signal number. */
  readonly signal: number;
  /** Absent: to all processes. */
  readonly to?: SignalTo;
}

/** `main`: the program itself alone; `others`: all that it has started. */
export const SIGNAL_TO = ['main', 'others'] as const;
export type SignalTo = (typeof SIGNAL_TO)[number];

/** Indices as `0-99,200` (IntervalSet text) and how many of them may hold resources at once. */
export interface ArraySpec {
  readonly indices: string;
  readonly runningMax?: number;
}

/**
 * Start only after another job is done: with `ok` all tasks completed, with `fail` any did not.
 * With `each` every task starts after the task of the other array with its index has completed;
 * with `start` as soon as all tasks of the other have started, or it is done.
 */
export interface Dependency {
  readonly jobId: JobId;
  readonly condition: 'ok' | 'any' | 'fail' | 'each' | 'start';
  /** With `start`: so long after its first start, or its end where it never started. Absent: 0. */
  readonly delayMs?: number;
}

/**
 * What makes a job an MPI job: its program runs on the first node alone, and starts what else there
 * is through `weft-rsh` (docs/mpi.md).
 */
export interface MpiSpec {
  /** Slots of each node in the host file. */
  readonly ranksPerNode: number;
  /** All of them, where the last nodes have one less. Absent: all have as many. */
  readonly ranks?: number;
}

/** What makes a job a pool of workers (docs/functions.md). Its running limit: how many it wants. */
export interface PoolSpec {
  /** Unique among its owner's living pools that are not stopped; null: found by its id alone. */
  readonly name: string | null;
  /** Workers that stay, also when there is nothing to do. */
  readonly min: number;
  readonly max: number;
  /** A worker beyond `min` leaves after so long without work. */
  readonly idleMs: number;
  /** When the process of a worker that runs calls is replaced; 0: never. Missing: neither. */
  readonly recycle?: Recycle;
  /** Workers run in a container of it. Missing: on the node itself. */
  readonly image?: ContainerImage;
  /** Functions are those of Python programs, run by this interpreter. Missing: of Node programs. */
  readonly python?: string;
  /** The pool is for one program, and ends when that is gone for good. */
  readonly isTemporary?: true;
}

export interface Recycle {
  /** After so many calls. */
  readonly calls: number;
  /** After a call that leaves more than so much memory in use. */
  readonly bytes: number;
}

/** What makes a job the cluster's own: it is the program of a maintenance. */
export interface SystemWork {
  /** The maintenance's id. */
  readonly maintenance: string;
  /** Login name that it runs under; null = the agent's own. */
  readonly account: UserName | null;
}

/** What makes a job one that a user gave to a site itself. Its site runs it when we say so. */
export interface ForeignWork {
  /** The gateway, by which the site is called. */
  readonly site: NodeName;
  /** The site's own id; of an array, that of the whole. */
  readonly job: string;
  /** The job is held at its site, by its user or by what it asks, and is released only there. */
  readonly isHeld: boolean;
  /** Why it is held, in words of its site; absent: it says nothing. */
  readonly heldBecause?: string;
  /** When it was submitted there, by the site's clock; absent: the site does not say. */
  readonly submittedAt?: number;
}

/** What makes a job the second try of another: it holds only the tasks that did not complete. */
export interface Retry {
  readonly of: JobId;
  /** First, last and count of the whole array, as its tasks are told; null for a plain job. */
  readonly array: { readonly first: number; readonly last: number; readonly count: number } | null;
}

/**
 * A submission, complete: every default is filled in before it gets here. Options that are kept as
 * they are given, options/table.ts adds.
 */
export interface JobSpec {
  readonly name: string;
  readonly program: Program;
  /**
   * The file that its script was read from where it was submitted; empty: it was none. No variable,
   * because jobs of many scripts share their environment. Absent: nobody has said.
   */
  readonly scriptPath?: string;
  /** Name to value; the agent adds the WEFT_ and CM_ variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: WorkDirectory;
  readonly files: OutputFiles;
  /** Absent: it needs no files, and what it leaves in a private directory is kept by default. */
  readonly staging?: JobStaging;
  readonly request: ResourceRequest;
  /** Null = no limit. Suspended time does not count. */
  readonly walltimeMs: number | null;
  /** Before the time limit. Absent: none. */
  readonly warning?: Warning;
  readonly array: ArraySpec | null;
  /** By task index: what the placeholders of its command stand for. */
  readonly each?: readonly Item[];
  readonly dependencies: readonly Dependency[];
  /** Not before this instant, ms since 1970. */
  readonly beginAt: number | null;
  readonly held: boolean;
  readonly onNodeLoss: OnNodeLoss;
  readonly partition: string;
  /** Absent: `normal`. */
  readonly qos?: string;
  /** Runs only in the share of this reservation, by id. Absent: anywhere else. */
  readonly reservation?: string;
  /** Absent: it is no retry of another job. */
  readonly retry?: Retry;
  /** Absent: it belongs to no batch. */
  readonly batch?: BatchLink;
  /** A program of the cluster itself; never of a submission. */
  readonly system?: SystemWork;
  /** Given to a site by its own user; never of a submission. */
  readonly foreign?: ForeignWork;
  /** Absent: the program runs on every node. */
  readonly mpi?: MpiSpec;
  /** The pool whose workers the tasks are. Absent: it is an ordinary job; never of a submission. */
  readonly pool?: PoolSpec;
  /**
   * With `mpi`: by it the processes of a task know each other. With `pool`: by it the head knows
   * its workers. Never shown.
   */
  readonly stepKey?: string;
  /** Targets that are told of the job's end, as `matrix:@ann:lab`. Absent: none. */
  readonly notify?: readonly string[];
}

export const TASK_STATES = [
  'pending',
  'staging_in',
  'starting',
  'running',
  'suspended',
  'staging_out',
  'completing',
  'done',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export const OUTCOMES = [
  'completed',
  'failed',
  'cancelled',
  'timeout',
  'out_of_memory',
  'node_fail',
  'launch_failed',
  'build_failed',
  'stage_failed',
  'deadline',
] as const;
export type OutcomeKind = (typeof OUTCOMES)[number];

/** Whether what ended so failed: it neither completed, nor did somebody cancel it. */
export function isFailure(kind: OutcomeKind): boolean {
  return kind !== 'completed' && kind !== 'cancelled';
}

/** Orders of a list of jobs. */
export const JOB_ORDERS = ['newest', 'priority'] as const;

/** Stands for every outcome that is a failure, where one is looked for. */
export const ANY_FAILURE = 'failure';
/** What may be looked for. */
export const OUTCOME_FILTERS = [...OUTCOMES, ANY_FAILURE] as const;

/** `kind` is null while the task has not ended. */
export function isOutcome(kind: string | null, wish: string): boolean {
  if (wish !== ANY_FAILURE || kind === null) return kind === wish;
  return isFailure(kind as OutcomeKind);
}

/**
 * A party that keeps a task stopped. A maintenance is named by its id, a pause by its node: two of
 * them may stop one task on different nodes.
 */
export type Stopper = 'owner' | 'scheduler' | `maintenance ${string}` | `pause ${string}`;

/** How one process ended: exactly one of the two. */
export interface ExitStatus {
  readonly code?: number;
  /** Signal number. */
  readonly signal?: number;
}

/** Why and how a task is done. `exit` is that of the process that decided it, always kept. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly exit?: ExitStatus;
  /** Which process `exit` is of. */
  readonly process?: { readonly node: NodeName; readonly rank: number };
  /** In words: who cancelled, which file could not be started and why, which node was lost. */
  readonly detail?: string;
}

/** What a task used, over all its processes of its last epoch. */
export interface Usage {
  readonly userUs: number;
  readonly systemUs: number;
  readonly memoryPeakBytes: number;
}

export const NO_USAGE: Usage = { userUs: 0, systemUs: 0, memoryPeakBytes: 0 };
