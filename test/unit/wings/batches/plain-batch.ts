// A job of a batch that asks for nothing.

import type { BatchJob } from '../../../../src/wings/batches/core/batch.ts';

export const PLAIN_BATCH_JOB: Omit<BatchJob, 'name' | 'run' | 'files'> = {
  args: [],
  env: {},
  after: [],
  needs: [],
  cpuCount: null,
  gpuCount: null,
  gpuType: null,
  gpuMemoryBytes: null,
  gpuShareBytes: null,
  memoryBytes: null,
  walltimeMs: null,
  retriesMax: 0,
  partition: null,
  qos: null,
  priority: 0,
  slurm: {},
};
