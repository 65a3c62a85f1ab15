// Batches, pools and usage of a cluster that is made up.

import type { SearchLogsReply } from '../../src/kernel/api/log-search.ts';
import type { ReplyOf } from '../../src/kernel/api/routes.ts';
import type { BatchDetail, BatchJobView } from '../../src/wings/batches/api/batches.ts';
import type { CallsView, PoolView } from '../../src/wings/calls/api/pools.ts';
import { FAILED_ID } from './jobs.ts';
import { Plain } from './server.ts';

const MINUTE_MS = 60_000;
const STEPS = 12;
const PER_WORKER = { cpuCount: 1, memoryBytes: 2 ** 30, gpuCount: 0, counted: {} };
const OWNERS = ['alice', 'bob', 'carol'];

export const BATCH_JOBS = 48;

export function batchOf(now: number): BatchDetail {
  return {
    title: 'lab/sweep',
    namespace: 'lab',
    name: 'sweep',
    version: 1,
    owner: 'alice',
    origin: 'weft',
    state: 'done',
    outcome: 'failed',
    jobCount: BATCH_JOBS,
    open: {},
    ended: { completed: 44, failed: 4 },
    after: [],
    jobIds: [FAILED_ID],
    failedBuilds: [{ node: 'n2', id: `${FAILED_ID}[1]`, epoch: 1 }],
    createdAt: now - 60 * MINUTE_MS,
    endedAt: now - 10 * MINUTE_MS,
    readyBuilds: ['n1', 'n3', 'n4'],
    outputs: { tasks: 44, files: 132, bytes: 9e6, leftOut: 0, more: false },
    notifications: null,
  };
}

export function batchJobs(now: number): { jobs: BatchJobView[]; next: null } {
  const jobs = Array.from({ length: BATCH_JOBS }, (_, number): BatchJobView => {
    const outcome = number % 12 === 5 ? 'failed' : 'completed';
    return {
      name: `re_${100 + number}`,
      number,
      id: `${FAILED_ID}[${number}]`,
      state: 'done',
      outcome,
      detail: null,
      epoch: 1,
      nodes: [`n${(number % 12) + 1}`],
      startedAt: now - 50 * MINUTE_MS,
      endedAt: now - 12 * MINUTE_MS,
      exit: { code: outcome === 'failed' ? 1 : 0 },
    };
  });
  return { jobs, next: null };
}

export function poolOf(now: number): PoolView {
  return {
    id: 9,
    name: 'fits',
    owner: 'alice',
    state: 'running',
    outcome: null,
    min: 1,
    max: 8,
    idleMs: MINUTE_MS,
    temporary: false,
    target: 8,
    workers: { running: 6 },
    reason: { kind: 'resources', words: 'needs 1 cpu; none is free' },
    calls: { clients: 2, workers: 6, waiting: 120, running: 6, done: 48_210, failed: 31 },
    losses: 1,
    image: null,
    python: null,
    perWorker: PER_WORKER,
    partition: 'default',
    submittedAt: now - 30 * MINUTE_MS,
    endedAt: null,
  };
}

export function callsOf(): CallsView {
  const speed = { perSecond: 88.5, p50Ms: 66, p99Ms: 240 };
  const client = { isAway: false, waiting: 60, open: 3, speed };
  return {
    waiting: 120,
    running: 6,
    done: 48_210,
    failed: 31,
    speed,
    clients: [
      { session: 'a1b2', label: 'fit.ts', done: 40_000, failed: 0, ...client },
      { session: 'c3d4', label: 'plot.ts', done: 8210, failed: 31, ...client },
    ],
    workers: Array.from({ length: 6 }, (_, at) => ({
      name: `n${at + 1}:0#1`,
      state: 'busy' as const,
      calls: 1,
      done: 8000 + at,
      failed: at,
      running: at === 2 ? { client: 'a1b2', call: 48_001, attempt: 2, forMs: 92_000 } : null,
    })),
  };
}

export function usageOf(now: number, from: number): ReplyOf<'reportUsage'> {
  const stepMs = (now - from) / STEPS;
  const rows = OWNERS.flatMap((key, owner) =>
    Array.from({ length: STEPS }, (_, at) => ({
      key,
      from: Math.round(from + at * stepMs),
      starts: 4,
      tasks: 4,
      cpuHours: ((at + owner * 3) % 7) * 1.5,
      gibHours: 2,
      usedCpuHours: at % 5,
    })),
  );
  return { from, until: now, rows };
}

/** A red pixel. */
const PICTURE_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4oKAAAAKkAQHjTKctAAAAAElFTkSuQmCC';
const PICTURE = Buffer.from(PICTURE_BASE64, 'base64');

export const MANIFEST: ReplyOf<'getOutputs'> = {
  index: null,
  epoch: 2,
  outcome: 'failed',
  files: 3,
  bytes: 5300,
  leftOut: 0,
  storedAt: 1,
  isPartial: true,
  version: 1,
  jobId: FAILED_ID,
  name: 'mesh',
  owner: 'alice',
  exitCode: 3,
  signal: null,
  detail: null,
  nodes: ['n3'],
  startedAt: 1,
  endedAt: 2,
  missing: [],
  entries: [
    { path: 'result', kind: 'folder', size: 0, mode: 0o755, modifiedAt: 1 },
    { path: 'result/log.txt', kind: 'file', size: 800, ...fileOf('a') },
    { path: 'result/field.csv', kind: 'file', size: 4300, ...fileOf('b') },
    { path: 'result/field.png', kind: 'file', size: PICTURE.length, ...fileOf('d') },
    { path: 'run.json', kind: 'file', size: 200, ...fileOf('c') },
  ],
};

/** Those of one job of the batch. */
export const KEPT: ReplyOf<'listOutputs'> = {
  tasks: [],
  manifests: [{ ...MANIFEST, job: 're_105' }],
  next: null,
};

function fileOf(letter: string) {
  return { mode: 0o644, modifiedAt: 1, sha256: letter.repeat(64) };
}

export function blobOf(hash: string): Plain {
  return new Plain(hash.startsWith('d') ? PICTURE : 'x,y\n0,1\n1,4\n2,9\n');
}

/** All of a short output at once. */
export function searchIn(output: string, text: string): SearchLogsReply {
  let next = 0;
  const all = output.split('\n').map((line) => {
    const at = next;
    next += line.length + 1;
    return { at, text: line, cut: 0 };
  });
  const lines = all.filter((line) => line.text.includes(text));
  return { epoch: 1, size: output.length, lines, next: output.length, isEnd: true };
}
