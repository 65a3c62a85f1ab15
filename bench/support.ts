// What several benchmarks need: a real clock, settings, a node's hello.

import type { NodeName } from '../src/kernel/model/ids.ts';
import type { NodeHello } from '../src/kernel/model/node.ts';
import { plainScheduling } from '../src/kernel/model/scheduling.ts';
import type { Settings } from '../src/kernel/model/settings.ts';
import type { Clock } from '../src/kernel/ports/clock.ts';
import type { Log } from '../src/kernel/ports/log.ts';

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, then) {
    const timer = setTimeout(then, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (then) => void setImmediate(then),
};

const ignore = (): void => undefined;
export const quietLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export const defaultSettings: Settings = {
  nodeTimeoutMs: 15_000,
  killGraceMs: 10_000,
  crashLimit: 3,
  defaults: {
    nodeCount: 1,
    processesPerNode: 1,
    perNode: { cpuCount: 1, memoryBytes: 100 * 1_048_576, gpuCount: 0, counted: {} },
    walltimeMs: null,
  },
  scheduling: plainScheduling('first_fit'),
  retainedJobsMax: 10_000,
  archiveDefaultBytes: 64 * 1_048_576,
  buildMsMax: 3_600_000,
};

/** A node with this many cpus and 100 GiB. */
export function hello(node: NodeName, cpuCount: number): NodeHello {
  return {
    node,
    bootId: 'boot',
    instance: node,
    resources: { cpuCount, memoryBytes: 100 * 2 ** 30, gpuCount: 0, counted: {} },
    labels: [],
    sharedPaths: ['/'],
    facts: {
      os: 'linux',
      arch: 'x64',
      kernel: '',
      hostname: node,
      agentVersion: '0',
      diskFreeBytes: 0,
      diskBytes: 0,
      network: '',
      limits: 'none',
      launcher: 'c',
      switchesUser: false,
      user: 'bench',
    },
    held: [],
    pauseMaxMs: 0,
  };
}
