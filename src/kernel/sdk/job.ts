// A job of the cluster, by its number: what can be asked of it and done to it.

import { changeJob, explainJob, jobInfo, jobTasks } from './job-calls.ts';
import type { HeadConnection } from './line.ts';
import { readLogs, readOutput } from './logs.ts';
import type { LogOptions, OutputOptions, PullOptions, WaitOptions } from './options.ts';
import { pullFiles } from './pull.ts';
import type { Explanation, JobInfo, PulledFile, TaskInfo } from './views.ts';
import { waitForJob } from './wait.ts';

/**
 * A handle of a job, or of one task of an array. It holds nothing but the id: every method asks the
 * head. All of them throw `WeftError`; `job.not_found` when there is none with this id.
 */
export class Job {
  /** `42` or `42[7]`. */
  readonly id: string;
  readonly #line: HeadConnection;

  /** Not for programs: `cluster.job(id)` makes one. */
  constructor(line: object, id: string) {
    this.#line = line as HeadConnection;
    this.id = id;
  }

  /** The job as it stands. */
  async info(): Promise<JobInfo> {
    return jobInfo(this.#line, this.id);
  }

  /** The job's tasks by index, all pages of them. */
  tasks(): AsyncGenerator<TaskInfo, void, undefined> {
    return jobTasks(this.#line, this.id);
  }

  /** Resolves when it is done, or has started; whether it completed, `outcome` says. */
  async wait(options: WaitOptions = {}): Promise<JobInfo> {
    return waitForJob(this.#line, this.id, options);
  }

  /** Ends it, pending or running. Resolves with how many tasks that changed. */
  async cancel(): Promise<number> {
    return changeJob(this.#line, 'cancelJob', this.id);
  }

  /** Keeps it from starting while it is pending. Resolves with how many tasks that changed. */
  async hold(): Promise<number> {
    return changeJob(this.#line, 'holdJob', this.id);
  }

  /** Lets it start again. Resolves with how many tasks that changed. */
  async release(): Promise<number> {
    return changeJob(this.#line, 'releaseJob', this.id);
  }

  /** Why it is where it is. */
  async why(): Promise<Explanation> {
    return explainJob(this.#line, this.id);
  }

  /** Captured output piece by piece, with `follow` while it runs. */
  logs(options: LogOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return readLogs(this.#line, this.id, options);
  }

  /** Captured output as one text: all of it, or so much as `bytesMax` says. */
  async output(options: OutputOptions = {}): Promise<string> {
    return readOutput(this.#line, this.id, options);
  }

  /** Brings the files that it left to this machine. */
  async pull(options: PullOptions = {}): Promise<readonly PulledFile[]> {
    return pullFiles(this.#line, this.id, options);
  }

  /** `42` or `42[7]`. */
  toString(): string {
    return this.id;
  }
}
