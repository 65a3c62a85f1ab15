// The names of all options of jobs, and of what is asked about them.

import type { JobOptions } from './job-options.ts';
import type { KnownOptions } from './known-options.ts';
import type {
  BatchOptions,
  EventOptions,
  LogOptions,
  OutputOptions,
  PullOptions,
  RunOptions,
  WaitOptions,
} from './options.ts';

export const JOB_OPTIONS: KnownOptions<JobOptions> = {
  ...{ name: true, cpus: true, memory: true, gpus: true, resources: true, nodes: true },
  ...{ processes: true, mpi: true, exclusive: true, needs: true, nodesNamed: true, time: true },
  ...{ warning: true, array: true, each: true, atOnce: true, after: true, begin: true },
  ...{ nice: true, hold: true, onNodeLoss: true, requeue: true, retries: true, env: true },
  ...{ directory: true, in: true, out: true, stdout: true, stderr: true, stdin: true },
  ...{ partition: true, qos: true, reservation: true, notify: true, umask: true, key: true },
  signal: true,
};

export const RUN_OPTIONS: KnownOptions<RunOptions> = { ...JOB_OPTIONS, to: true, check: true };

export const WAIT_OPTIONS: KnownOptions<WaitOptions> = { until: true, timeout: true, signal: true };

export const LOG_OPTIONS: KnownOptions<LogOptions> = {
  ...{ stream: true, follow: true, epoch: true, nodeRank: true, rank: true, offset: true },
  ...{ limit: true, signal: true },
};

export const OUTPUT_OPTIONS: KnownOptions<OutputOptions> = {
  ...{ stream: true, follow: true, epoch: true, nodeRank: true, rank: true, offset: true },
  ...{ bytesMax: true, signal: true },
};

export const EVENT_OPTIONS: KnownOptions<EventOptions> = {
  ...{ jobs: true, kinds: true, after: true, signal: true },
};

export const PULL_OPTIONS: KnownOptions<PullOptions> = {
  ...{ to: true, folders: true, glob: true, include: true, exclude: true, signal: true },
};

export const BATCH_OPTIONS: KnownOptions<BatchOptions> = { mode: true, folder: true, signal: true };
