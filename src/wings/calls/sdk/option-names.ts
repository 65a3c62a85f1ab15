// The names of all options of pools and of their calls.

import type { KnownOptions } from '../../../kernel/sdk/known-options.ts';
import type {
  CallOptions,
  MapOptions,
  PoolOptions,
  RecycleOptions,
  WorkerRange,
} from './pool-options.ts';

export const RANGE_OPTIONS: KnownOptions<WorkerRange> = { min: true, max: true, idle: true };

export const CALL_OPTIONS: KnownOptions<CallOptions> = {
  retries: true,
  timeout: true,
  attemptTimeout: true,
  signal: true,
};

export const MAP_OPTIONS: KnownOptions<MapOptions> = {
  ...CALL_OPTIONS,
  inFlight: true,
  ordered: true,
};

export const RECYCLE_OPTIONS: KnownOptions<RecycleOptions> = { calls: true, memory: true };

export const POOL_OPTIONS: KnownOptions<PoolOptions> = {
  name: true,
  recycle: true,
  workers: true,
  detach: true,
  image: true,
  cpus: true,
  memory: true,
  gpus: true,
  resources: true,
  exclusive: true,
  needs: true,
  nodesNamed: true,
  time: true,
  nice: true,
  env: true,
  directory: true,
  in: true,
  stdout: true,
  stderr: true,
  partition: true,
  qos: true,
  reservation: true,
  notify: true,
  umask: true,
};
