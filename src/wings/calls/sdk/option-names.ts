// The names of all options of pools and of their calls.

import { FIELD_ROWS, type PoolOption } from '../../../kernel/model/options/table.ts';
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

const OF_WORKERS = Object.fromEntries(
  FIELD_ROWS.flatMap(({ name, pool }) => (pool ? [[name, true]] : [])),
) as Record<PoolOption, true>;

export const POOL_OPTIONS: KnownOptions<PoolOptions> = {
  ...OF_WORKERS,
  name: true,
  recycle: true,
  workers: true,
  detach: true,
  image: true,
  env: true,
  directory: true,
  in: true,
  stdout: true,
  stderr: true,
};
