// What a head says of itself, for tests.

import type { InfoReply } from '../../../../../src/kernel/api/cluster.ts';

const AMOUNTS = { cpuCount: 4, memoryBytes: 1024 ** 3, gpuCount: 0, counted: {} };

export function infoView(): InfoReply {
  return {
    clusterName: 'lab',
    version: '0.1.0',
    protocol: 1,
    multiUser: false,
    jobs: { running: 1, done: 7 },
    queueLength: 2,
    nodes: { up: 1 },
    losses: [],
    total: AMOUNTS,
    free: { ...AMOUNTS, cpuCount: 3 },
    archive: { bytes: 0, bytesMax: 0, next: null },
    head: {
      hostname: 'h',
      fingerprint: null,
      addresses: [],
      pid: 1,
      user: 'alice',
      nodeVersion: '24',
      startedAt: 0,
      cpuCount: 4,
      memoryBytes: 0,
      memoryFreeBytes: 0,
      load1: 0,
      residentBytes: 0,
      seq: 1,
      now: 60_000,
    },
  };
}
