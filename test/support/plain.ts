// Records with nothing special in them: a test names only what it is about.

import type { SiteJob, SiteNode } from '../../src/kernel/model/site.ts';
import type { LaunchRequest } from '../../src/kernel/ports/processes.ts';

/** An idle node of a site. */
export const PLAIN_SITE_NODE: Omit<SiteNode, 'name'> = {
  state: 'idle',
  word: 'IDLE',
  reason: null,
  cpuCount: 2,
  cpusUsed: 0,
  memoryBytes: null,
  memoryFreeBytes: null,
  features: [],
  queues: [],
};

/** A job of one cpu that waits at its site. */
export const PLAIN_SITE_JOB: Omit<SiteJob, 'id' | 'name' | 'owner' | 'word' | 'walltimeMs'> = {
  handle: null,
  state: 'waiting',
  reason: null,
  queue: null,
  elements: null,
  submittedAt: 0,
  startedAt: null,
  endedAt: null,
  nodeCount: 1,
  cpuCount: 1,
  memoryBytes: null,
  isExclusive: false,
  nodes: [],
  exit: null,
};

/** A process without input, output and limits. */
export const PLAIN_LAUNCH: Omit<LaunchRequest, 'launchId' | 'argv' | 'environment' | 'cwd'> = {
  stdin: '',
  stdout: '',
  stderr: '',
  append: false,
  credentials: null,
  umask: 0o022,
  nice: 0,
  cgroupProcs: [],
  makeParents: false,
  leaseMs: null,
  wants: { cpuCount: 1, memoryBytes: 0, walltimeMs: null },
};
