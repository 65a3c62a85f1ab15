// What the config file of a simulated head says, but for what a run draws.

import type { HeadSettings } from '../src/kernel/head/head.ts';
import type { Settings } from '../src/kernel/model/settings.ts';

/** Between two ticks of a head. */
export const PERIOD_MS = 1000;

type Drawn = Pick<
  Settings,
  | 'nodeTimeoutMs'
  | 'killGraceMs'
  | 'scheduling'
  | 'retainedJobsMax'
  | 'archiveDefaultBytes'
  | 'buildMsMax'
  | 'notify'
> &
  Pick<HeadSettings, 'heartbeatMs' | 'looksMax'> & {
    /** Absent: `PERIOD_MS`. */
    readonly tickMs?: number;
  };

export function headSettings({
  heartbeatMs,
  looksMax,
  tickMs = PERIOD_MS,
  ...drawn
}: Drawn): HeadSettings {
  const perNode = { cpuCount: 1, memoryBytes: 0, gpuCount: 0, counted: {} };
  const defaults = { nodeCount: 1, processesPerNode: 1, perNode, walltimeMs: null };
  return {
    settings: { ...drawn, crashLimit: 3, defaults },
    heartbeatMs,
    tickMs,
    logBytesMax: 1_000_000,
    ...(looksMax === undefined ? {} : { looksMax }),
  };
}
