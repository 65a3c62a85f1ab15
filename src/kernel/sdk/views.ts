// What the library tells of jobs, nodes and the cluster: plain data, as it was when the head
// answered. Instants are in milliseconds since 1970, spans in milliseconds, sizes in bytes.

/** Where a job or a task is in its life. */
export type JobState =
  | 'pending'
  | 'staging_in'
  | 'starting'
  | 'running'
  | 'suspended'
  | 'staging_out'
  | 'completing'
  | 'done';

/** How a job or a task ended, in a word. */
export type OutcomeKind =
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'timeout'
  | 'out_of_memory'
  | 'node_fail'
  | 'launch_failed'
  | 'build_failed'
  | 'stage_failed'
  | 'deadline';

/** How a process ended: one of the two is there. */
export interface ExitStatus {
  /** Exit code, 0 to 255. */
  readonly code?: number;
  /** Number of the signal that killed it, as in signal(7). */
  readonly signal?: number;
}

/** How a job or a task ended. */
export interface Outcome {
  readonly kind: OutcomeKind;
  /** Exit of the process that decided it. */
  readonly exit: ExitStatus | null;
  /** Which process that was. */
  readonly process: { readonly node: string; readonly rank: number } | null;
  /** In words: who cancelled, which file could not be started, which node was lost. */
  readonly detail: string | null;
}

/** Why something waits, in a word and in a sentence. */
export interface Reason {
  readonly kind: string;
  readonly words: string;
}

/** Which gpus a job asks for; null: any. */
export interface GpuKind {
  /** One of these. */
  readonly types: readonly string[] | null;
  /** Each has at least so much memory. */
  readonly memoryBytesMin: number | null;
  /** Only so much of each, shared with others. */
  readonly shareBytes: number | null;
  /** All of them are joined with each other by NVLink. Absent: however they are. */
  readonly links?: 'nvlink';
}

/** What a job asks of each node. */
export interface AskedResources extends Resources {
  /** Absent: any whole ones. */
  readonly gpuKind?: GpuKind;
}

/** Amounts of what nodes have. */
export interface Resources {
  readonly cpuCount: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  /** Other counted resources by name. */
  readonly counted: Readonly<Record<string, number>>;
}

/** What a job asked for. */
export interface ResourceRequest {
  readonly nodeCount: number;
  readonly processesPerNode: number;
  readonly perNode: AskedResources;
  /** Whole nodes. */
  readonly exclusive: boolean;
  readonly labels: readonly string[];
  /** Only these; empty: any. */
  readonly nodeNames: readonly string[];
  /** Counted resources of the whole cluster, held once. Absent: none. */
  readonly ofCluster?: Readonly<Record<string, number>>;
}

/** A job, as it stands. */
export interface JobInfo {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly partition: string;
  /** That of its most advanced task while any is not done. */
  readonly state: JobState;
  /** Null until it is done. */
  readonly outcome: Outcome | null;
  /** Why its first pending task waits; null when none does. */
  readonly reason: Reason | null;
  /** A sentence while nodes of its tasks cannot be reached. */
  readonly notice: string | null;
  /** Points, while it waits for the scheduler. */
  readonly priority: number | null;
  readonly taskCount: number;
  /** Tasks by state. */
  readonly taskCounts: Readonly<Record<string, number>>;
  /** Tasks that are done, by outcome. */
  readonly outcomeCounts: Readonly<Record<string, number>>;
  /** Indices of an array, as `0-99`; null for a plain job. */
  readonly array: string | null;
  readonly submittedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Nodes of its running tasks; of a plain job that is done, where it ran. */
  readonly nodes: readonly string[];
  readonly exit: ExitStatus | null;
  /** What is run, as one line. */
  readonly command: string;
  /** The shared directory that it runs in; null: a private one. */
  readonly directory: string | null;
  readonly request: ResourceRequest;
  /** Time limit; null: none. */
  readonly walltimeMs: number | null;
  readonly held: boolean;
}

/** One task of a job: an array has many, a plain job has one. */
export interface TaskInfo {
  /** `42` or `42[7]`. */
  readonly id: string;
  readonly jobId: number;
  /** Null for the task of a plain job. */
  readonly index: number | null;
  readonly state: JobState;
  /** How often it was started. */
  readonly epoch: number;
  readonly outcome: Outcome | null;
  readonly reason: Reason | null;
  readonly notice: string | null;
  readonly nodes: readonly string[];
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly exit: ExitStatus | null;
  /** What it used, over all processes of its last start. */
  readonly usage: {
    /** Microseconds of cpu time in the program. */
    readonly userUs: number;
    /** Microseconds of cpu time in the kernel. */
    readonly systemUs: number;
    readonly memoryPeakBytes: number;
  } | null;
}

/**
 * How the start at a site that decides itself is reckoned: from its queue, as it was listed last.
 */
export interface StartGuess {
  readonly site: string;
  /** Null when it takes no work, as far as it says. */
  readonly waitMs: number | null;
  /** Null when it was never listed. */
  readonly listedAt: number | null;
}

/** Why a job or task is where it is. */
export interface Explanation {
  readonly state: JobState;
  readonly reason: Reason | null;
  /** When it would start by today's plan; null when nobody can know. */
  readonly startsAt: number | null;
  /** Where, by today's plan. */
  readonly startNodes: readonly string[];
  /** The planned start is a guess, as a site decides it. Absent: no site does. */
  readonly guess?: StartGuess | undefined;
  /** What asked for instead would start now, the least change first. */
  readonly smaller: readonly string[];
  /** Lines for people. */
  readonly words: string;
}

/** A computer of the cluster. */
export interface NodeInfo {
  readonly name: string;
  /** `away`: silent for less than the time-out. `never_seen`: only enrolled. */
  readonly state: 'up' | 'away' | 'unreachable' | 'never_seen';
  readonly drained: { readonly reason: string; readonly by: string; readonly at: number } | null;
  /** Why it says that it can take no new work, such as `disk full`. */
  readonly fault: string | null;
  /** Why it gets no new work, in words; null when it does. */
  readonly reason: string | null;
  readonly total: Resources;
  readonly free: Resources;
  readonly labels: readonly string[];
  /** Paths that it shares with other nodes. */
  readonly sharedPaths: readonly string[];
  /** Tasks that may have processes here, with their start: `42[7]#1`. */
  readonly running: readonly string[];
  readonly lastSeenAt: number | null;
}

/** Something that happened. Besides these fields it has those of its kind (docs/events.md). */
export interface ClusterEvent {
  /** Position in the cluster's record; hand the last one to `after` to go on behind it. */
  readonly seq: number;
  readonly at: number;
  /** What happened, such as `job_submitted`; a newer head may send others. */
  readonly kind: string;
  /** The job that it is about, if it is about one. */
  readonly jobId?: number;
  readonly [field: string]: unknown;
}

/** A file, folder or link that a task has left, and that is here now. */
export interface PulledFile {
  /** `42` or `42[7]`. */
  readonly task: string;
  /** Whole path on this machine. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  readonly size: number;
  /** False: it was here already, with the same content. */
  readonly isFetched: boolean;
}
