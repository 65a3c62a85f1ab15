// A cluster as a program has it: jobs, nodes and events, in one object. Wings add methods to it
// (`cluster-methods.ts`).

import type { JobReference } from '../model/options/types.ts';
import { JobFailed } from './errors.ts';
import { readEvents } from './events.ts';
import { Job } from './job.ts';
import { changeJob, explainJob, jobInfo, jobTasks } from './job-calls.ts';
import type { JobCommand, JobOptions } from './job-options.ts';
import { checkOptions } from './known-options.ts';
import type { HeadConnection } from './line.ts';
import { readLogs, readOutput } from './logs.ts';
import {
  type EventOptions,
  type LogOptions,
  type OutputOptions,
  type PullOptions,
  RUN_OPTIONS,
  type RunOptions,
  type WaitOptions,
} from './options.ts';
import { pullFiles } from './pull.ts';
import { dropUndefined, pathOf } from './submission.ts';
import { submitJob } from './submit.ts';
import type {
  ClusterEvent,
  Explanation,
  JobInfo,
  JobState,
  NodeInfo,
  OutcomeKind,
  PulledFile,
  TaskInfo,
} from './views.ts';
import { waitForAll, waitForJob } from './wait.ts';

/** Which jobs. */
export interface JobFilter {
  /** A state, `active` for all that are not done (the default), or `all`. */
  readonly state?: JobState | 'active' | 'all';
  /** Only of this user. */
  readonly owner?: string;
  /** Only with this name. */
  readonly name?: string;
  /** Only those that ended so; with `state: 'all'` or `'done'`. */
  readonly outcome?: OutcomeKind;
  /** At most so many. Default: all. */
  readonly limit?: number;
}

/** A job that is over. */
export interface RunResult {
  /** The job's handle: for `output()`, `pull()` and the rest. */
  readonly job: Job;
  readonly info: JobInfo;
  /** Exit code of the process that decided it; null when a signal or the cluster ended it. */
  readonly exitCode: number | null;
  /** What was brought here; empty without `to`. */
  readonly files: readonly PulledFile[];
}

/** Methods that wings add to every cluster: each declares its own here (`cluster-methods.ts`). */
// biome-ignore lint/suspicious/noEmptyInterface: a type could not be added to
export interface ClusterMethods {}

/** The line of a cluster, which programs do not see. */
export let lineOf: (cluster: Cluster) => object;

/**
 * The connection to a cluster. Close it with `close()`, or let `await using` do that. All methods
 * throw `WeftError`, and try again while the head is away, for as long as `patience` of `connect`
 * says.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: wings give what they declare
export class Cluster implements AsyncDisposable {
  readonly #line: HeadConnection;
  /** Login name that this program has there. */
  readonly user: string;

  static {
    lineOf = (cluster) => cluster.#line;
  }

  /** Not for programs: `connect()` makes one. */
  constructor(line: object, user: string) {
    this.#line = line as HeadConnection;
    this.user = user;
  }

  /** Path of the head's socket, or its host and port. */
  get address(): string {
    return this.#line.address;
  }

  /**
   * Submits a job and waits for its end. Throws `JobFailed` when it does not complete, unless
   * `check` is false. When `signal` is aborted the job is cancelled.
   */
  async run(command: JobCommand, options: RunOptions = {}): Promise<RunResult> {
    checkOptions('run', options, RUN_OPTIONS);
    const { to, check = true, ...wish } = options;
    const job = await this.submit(command, wish);
    const info = await this.#attend(job, wish.signal);
    const words = outcomeWords(info);
    if (check && info.outcome?.kind !== 'completed') throw new JobFailed(info, words);
    const files = to === undefined ? [] : await job.pull({ to, folders: false });
    const exit = info.outcome?.exit ?? info.exit;
    return { job, info, exitCode: exit?.code ?? null, files };
  }

  /**
   * Submits a job. Resolves when it is on the head's disk: it will run, whatever becomes of this
   * program.
   */
  async submit(command: JobCommand, options: JobOptions = {}): Promise<Job> {
    return this.job(await submitJob(this.#line, command, options));
  }

  /** A handle of a job or task by its id; whether there is one, its methods find out. */
  job(id: JobReference): Job {
    return new Job(this.#line, pathOf(id));
  }

  /** Jobs of all users, the newest first. */
  async *jobs(filter: JobFilter = {}): AsyncGenerator<JobInfo, void, undefined> {
    const { limit = Number.POSITIVE_INFINITY, ...which } = filter;
    let before: number | undefined;
    for (let left = limit; left > 0; ) {
      const query = dropUndefined({ ...which, before, limit: Math.min(1000, left) });
      const page = await this.#line.call('listJobs', { query });
      yield* page.jobs;
      left -= page.jobs.length;
      if (page.next === null) return;
      before = page.next;
    }
  }

  /** One job as it stands. */
  async info(job: JobReference): Promise<JobInfo> {
    return jobInfo(this.#line, pathOf(job));
  }

  /** The tasks of a job by index. */
  tasks(job: JobReference): AsyncGenerator<TaskInfo, void, undefined> {
    return jobTasks(this.#line, pathOf(job));
  }

  /**
   * Resolves when a job is done, or has started; of several: when all of them are, in the order in
   * which they were given. How a job ended, `outcome` says.
   */
  wait(job: JobReference, options?: WaitOptions): Promise<JobInfo>;
  wait(jobs: readonly JobReference[], options?: WaitOptions): Promise<readonly JobInfo[]>;
  async wait(
    jobs: JobReference | readonly JobReference[],
    options: WaitOptions = {},
  ): Promise<JobInfo | readonly JobInfo[]> {
    if (!isList(jobs)) return waitForJob(this.#line, pathOf(jobs), options);
    return waitForAll(this.#line, jobs.map(pathOf), options);
  }

  /** Ends a job or task, pending or running. Resolves with how many tasks that changed. */
  async cancel(job: JobReference): Promise<number> {
    return changeJob(this.#line, 'cancelJob', pathOf(job));
  }

  /** Keeps a pending job from starting. Resolves with how many tasks that changed. */
  async hold(job: JobReference): Promise<number> {
    return changeJob(this.#line, 'holdJob', pathOf(job));
  }

  /** Lets a held job start. Resolves with how many tasks that changed. */
  async release(job: JobReference): Promise<number> {
    return changeJob(this.#line, 'releaseJob', pathOf(job));
  }

  /** Why a job or task is where it is, and what it can expect. */
  async why(job: JobReference): Promise<Explanation> {
    return explainJob(this.#line, pathOf(job));
  }

  /** Captured output of a job or task, piece by piece as it is. */
  logs(job: JobReference, options: LogOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return readLogs(this.#line, pathOf(job), options);
  }

  /** Captured output as one text: all of it, or so much as `bytesMax` says. */
  async output(job: JobReference, options: OutputOptions = {}): Promise<string> {
    return readOutput(this.#line, pathOf(job), options);
  }

  /** Brings the files that a job or task left to this machine. */
  async pull(job: JobReference, options: PullOptions = {}): Promise<readonly PulledFile[]> {
    return pullFiles(this.#line, pathOf(job), options);
  }

  /** The computers of the cluster, by name. */
  async nodes(): Promise<readonly NodeInfo[]> {
    return (await this.#line.call('listNodes')).nodes;
  }

  /**
   * What happens, from now on or behind an event. What you may not see is left out. The stream goes
   * on after a restart of the head; `event.too_old` when it missed too much,
   * `event.not_yet` when the head was put back to an older state.
   */
  events(options: EventOptions = {}): AsyncGenerator<ClusterEvent, void, undefined> {
    return readEvents(this.#line, options);
  }

  /**
   * Ends the connection: what still runs of this object is rejected with `cluster.closed`. Jobs go
   * on.
   */
  close(): void {
    this.#line.close();
  }

  /** The same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #attend(job: Job, signal: AbortSignal | undefined): Promise<JobInfo> {
    try {
      return await job.wait(dropUndefined({ signal }));
    } catch (error) {
      if (signal?.aborted) await job.cancel();
      throw error;
    }
  }
}

export interface Cluster extends ClusterMethods {}

function isList(jobs: JobReference | readonly JobReference[]): jobs is readonly JobReference[] {
  return Array.isArray(jobs);
}

/** `failed (exit code 3 on n1)`, `cancelled: by alice`. */
function outcomeWords({ outcome }: JobInfo): string {
  if (outcome === null) return 'not done';
  const { kind, exit, process, detail } = outcome;
  const where = process === null ? '' : ` on ${process.node}`;
  if (exit?.code !== undefined) return `${kind} (exit code ${exit.code}${where})`;
  if (exit?.signal !== undefined) return `${kind} (signal ${exit.signal}${where})`;
  return detail === null ? kind : `${kind}: ${detail}`;
}
