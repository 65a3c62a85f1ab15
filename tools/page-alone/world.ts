// A cluster that is made up, of any size, for the page alone: every page has something to show.

import * as jobs from './jobs.ts';
import * as nodes from './nodes.ts';
import { type Answers, Plain } from './server.ts';
import * as work from './work.ts';

export interface WorldSize {
  readonly jobs: number;
  /** Number of tasks of its one array. */
  readonly tasks: number;
  readonly nodes: number;
  readonly bars: number;
}

/** Enough for every page to show something. */
export const SMALL: WorldSize = { jobs: 60, tasks: 400, nodes: 12, bars: 80 };
export const LARGE: WorldSize = { jobs: 100_000, tasks: 100_000, nodes: 1000, bars: 10_000 };

const HOUR_MS = 3_600_000;
const OUTPUT = Array.from({ length: 40 }, (_, at) => `step ${at}: residual 0.0${at}\n`).join('');
const ALICE = { user: 'alice', usageSeconds: 72_000, share: 0.5, factor: 0.31 };

export function madeUp(size: WorldSize, now = Date.now()) {
  const world = { ...size, now };
  const all = Array.from({ length: size.nodes }, (_, at) => nodes.nodeOf(at, now));
  const schedule = nodes.scheduleOf(size.nodes, size.bars, now);
  const me = { name: 'alice', role: 'admin' as const };
  return {
    loginPage: () => ({ user: me.name, role: me.role, expiresAt: now + HOUR_MS, key: 'alone' }),
    whoami: () => ({ kind: 'user', ...me, uid: 1000, groups: ['lab'] }),
    info: () => nodes.infoOf(size.nodes, 7, now),
    overview: () => jobs.overview(world, nodes.infoOf(size.nodes, 7, now)),
    loadHistory: () => nodes.loadOf(size.nodes, now),
    getNotice: () => ({ notice: null }),
    listNodes: () => ({ nodes: all }),
    getNode: ({ params }) => nodes.nodeOf(Number(params['name']?.slice(1)) - 1, now),
    gpuMap: ({ query }) => nodes.gpuMapOf(now, query.get('figure')),
    schedule: () => schedule,
    listReservations: () => nodes.reservationsOf(now),
    listJobs: (asked) => jobs.listJobs(world, asked),
    getJob: (asked) => jobs.jobDetail(world, asked),
    explainJob: (asked) => jobs.explainJob(world, asked),
    rehearseJob: jobs.rehearseJob,
    mapTasks: () => jobs.mapTasks(world),
    listTasks: (asked) => jobs.listTasks(world, asked),
    history: (asked) => jobs.history(world, asked),
    searchLogs: ({ query }) => work.searchIn(OUTPUT, query.get('text') ?? ''),
    readLogs: () => new Plain(OUTPUT, { 'weft-log-size': String(OUTPUT.length) }),
    getOutputs: () => work.MANIFEST,
    listOutputs: () => work.KEPT,
    readBlob: ({ params }) => work.blobOf(params['hash'] ?? ''),
    listBatches: () => ({ batches: [work.batchOf(now)] }),
    getBatch: () => work.batchOf(now),
    listBatchJobs: () => work.batchJobs(now),
    listPools: () => ({ pools: [work.poolOf(now)] }),
    poolCalls: work.callsOf,
    listSites: () => nodes.SITES,
    getSite: () => nodes.siteOf(now),
    listPartitions: () => ({ partitions: [] }),
    listUsage: () => ({ halfLifeMs: 24 * HOUR_MS, users: [ALICE] }),
    reportUsage: ({ query }) => work.usageOf(now, Number(query.get('from'))),
  } satisfies Answers;
}
