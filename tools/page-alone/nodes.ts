// Nodes, their schedule and other clusters of a cluster that is made up.

import type { InfoReply, LoadReply } from '../../src/kernel/api/cluster.ts';
import type { NodeView } from '../../src/kernel/api/nodes.ts';
import type { ReplyOf } from '../../src/kernel/api/routes.ts';
import type { ScheduleBar } from '../../src/kernel/api/schedule.ts';
import type { SiteSummary, SiteView } from '../../src/wings/sites/api/sites.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const GIB = 2 ** 30;
const KINDS = ['past', 'past', 'running', 'planned'] as const;
const OWNERS = ['alice', 'bob', 'carol', 'dimitri'];
const WORDS = ['completed', 'failed', 'running', 'pending'];
const TOTAL = { cpuCount: 16, memoryBytes: 64 * GIB, gpuCount: 2, counted: {} };

export function nodeOf(at: number, now: number): NodeView {
  const used = at % 3 === 0 ? 16 : at % 3 === 1 ? 6 : 0;
  const isDrained = at % 40 === 7;
  const drained = { reason: 'new disk', by: 'olga', at: now - 90 * MINUTE_MS };
  return {
    name: `n${at + 1}`,
    state: at % 97 === 50 ? 'unreachable' : 'up',
    drained: isDrained ? drained : null,
    fault: null,
    paused: null,
    pauseWanted: false,
    presence: null,
    maintenance: null,
    reason: isDrained ? 'drained: new disk' : null,
    total: TOTAL,
    free: { ...TOTAL, cpuCount: 16 - used, gpuCount: used > 0 ? 1 : 2 },
    declared: null,
    labels: ['x86_64', 'rack=7'],
    sharedPaths: ['/home'],
    running: used > 0 ? [`${at + 10}#1`] : [],
    unreachableSince: null,
    lastSeenAt: now,
    load: { load1: used * 0.97, memoryFreeBytes: 40 * GIB, diskFreeBytes: 800 * GIB },
    clockOffsetMs: 2,
    facts: { cpuModel: 'AMD EPYC 7543', kernel: '6.12' },
    bootId: 'boot',
    session: 1,
  };
}

const GPUS_OF_NODE = 8;
const STEPS = 61;

/** An hour of the gpus of eight nodes: given, used outside, ill, or free. */
export function gpuMapOf(now: number, figure: string | null): ReplyOf<'gpuMap'> {
  const half = { from: now - 60 * MINUTE_MS, until: now - 30 * MINUTE_MS };
  const earlier = { task: '9#1', user: 'cleo', ...half };
  const cardOf = (node: number, number: number) => {
    const place = node * GPUS_OF_NODE + number;
    const isGiven = place % 3 !== 2;
    const why =
      place === 21 ? 'ill: GPU is lost' : place === 34 ? 'used outside Weft by ann' : null;
    const state = place === 21 ? 'ill' : place === 34 ? 'used_outside' : isGiven ? 'given' : 'free';
    const level = isGiven ? ((place * 37) % 90) + (figure === 'memory' ? 5 : 10) : 0;
    const wave = (step: number): number => Math.round(level * (0.8 + 0.2 * Math.sin(step / 6)));
    return {
      label: String(number),
      type: node < 5 ? 'a100-80g' : 'rtx4090',
      state,
      why,
      tasks: state === 'given' ? [`${place + 10}#1`] : [],
      users: state === 'given' ? [OWNERS[place % 4] as string] : [],
      watts: null,
      celsius: null,
      slowedBy: null,
      past: place === 1 ? [earlier] : [],
      percents: Array.from({ length: STEPS }, (_, step) => (step < 4 ? null : wave(step))),
    };
  };
  const nodes = Array.from({ length: 8 }, (_, node) => ({
    name: `n${node + 1}`,
    cards: Array.from({ length: node < 5 ? GPUS_OF_NODE : 2 }, (_card, at) => cardOf(node, at)),
  }));
  return { from: now - 60 * MINUTE_MS, stepMs: MINUTE_MS, isWhole: true, nodes };
}

export function infoOf(nodes: number, waiting: number, now: number): InfoReply {
  const all = { cpuCount: 16 * nodes, memoryBytes: 64 * GIB * nodes, gpuCount: 2 * nodes };
  return {
    clusterName: 'made-up',
    version: '0.0.0',
    protocol: 1,
    multiUser: true,
    jobs: { running: 42, pending: waiting },
    queueLength: waiting,
    nodes: { up: nodes },
    total: { ...all, counted: {} },
    free: { ...all, cpuCount: 6 * nodes, gpuCount: nodes, counted: {} },
    losses: [],
    archive: { bytes: 0, bytesMax: 10 * GIB, next: null },
    head: {
      hostname: 'head',
      fingerprint: null,
      addresses: [],
      pid: 1,
      user: 'weft',
      nodeVersion: 'v24',
      startedAt: now - 1e7,
      cpuCount: 2,
      memoryBytes: 4 * GIB,
      memoryFreeBytes: GIB,
      load1: 0.4,
      residentBytes: GIB / 8,
      seq: 1,
      now,
    },
  };
}

/** A day of which the head was away for an hour. */
export function loadOf(nodes: number, now: number): LoadReply {
  const ms = 5 * MINUTE_MS;
  const points = Array.from({ length: 288 }, (_, at) => ({
    at: now - (288 - at) * ms,
    ms,
    cpus: nodes * (4 + (at % 12)),
    cpusTotal: 16 * nodes,
    waiting: (at * 7) % 40,
  }));
  return { points: [...points.slice(0, 200), ...points.slice(212)], now };
}

/** Bars over all nodes, past, running and planned around now. */
export function scheduleOf(nodes: number, count: number, now: number): ReplyOf<'schedule'> {
  const bars = Array.from({ length: count }, (_, at): ScheduleBar => {
    const round = Math.floor(at / nodes);
    const from = now - 50 * MINUTE_MS + round * 9 * MINUTE_MS + (at % 7) * MINUTE_MS;
    const kind = from > now ? 'planned' : from + 8 * MINUTE_MS > now ? 'running' : 'past';
    const word = kind === 'past' ? WORDS[at % 2] : WORDS[KINDS.indexOf(kind)];
    return {
      kind,
      id: String(at + 1),
      jobId: at + 1,
      name: `job-${at + 1}`,
      owner: OWNERS[at % 4] as string,
      nodes: [`n${(at % nodes) + 1}`],
      from,
      until: from + 8 * MINUTE_MS,
      cpuCount: 2 + (at % 5),
      word: word ?? 'completed',
    };
  });
  return { at: now, bars, isWhole: true, isPastWhole: true, isRunningWhole: true };
}

export function reservationsOf(now: number): ReplyOf<'listReservations'> {
  const slot = { from: now + 10 * MINUTE_MS, until: now + 40 * MINUTE_MS, nodes: ['n3', 'n4'] };
  return {
    reservations: [
      {
        id: 'r1',
        name: 'course',
        purpose: 'users',
        state: 'coming',
        users: ['alice'],
        groups: [],
        jobs: [],
        slots: [{ ...slot, share: 'whole' }],
        skipped: [],
        recurrence: null,
        durationMs: 30 * MINUTE_MS,
        missing: [],
        waitingTasks: 0,
        runningTasks: 0,
        createdBy: 'olga',
        createdAt: now - DAY_MS,
      },
    ],
  };
}

const SITE = {
  ...({ name: 'hpc', system: 'slurm', mode: 'submit', state: 'up' } as const),
  takeover: null,
  problem: null,
  ageMs: 4000,
};

export const SITES: { readonly sites: SiteSummary[] } = {
  sites: [
    {
      ...SITE,
      nodes: 40,
      nodesUp: 39,
      cpus: 1280,
      cpusUsed: 900,
      queues: 2,
      jobsWaiting: 17,
      jobsRunning: 60,
    },
  ],
};

const SEEN = { queue: null, partition: null, name: null };
const HIDDEN = { ...SEEN, hiddenBy: 'no-login-nodes', labels: [], rules: ['no-login-nodes'] };
const LABELLED = { ...SEEN, hiddenBy: null, labels: ['fast'], rules: ['fast-nodes'] };
const FILTERS: SiteView['filters'] = {
  rules: [
    { name: 'no-login-nodes', over: 'nodes', matched: 5, of: 40 },
    { name: 'fast-nodes', over: 'nodes', matched: 0, of: 40 },
  ],
  sources: [{ name: 'racks.csv', ageMs: 42_000, problem: null }],
  problem: null,
};

export function siteOf(now: number): SiteView {
  const nodes = Array.from({ length: 40 }, (_, at): SiteView['nodes'][number] => ({
    name: `hpc${at + 1}`,
    state: 'up',
    word: 'mixed',
    reason: null,
    cpuCount: 32,
    cpusUsed: (at * 7) % 33,
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: ['batch'],
    seen: at % 8 === 0 ? HIDDEN : LABELLED,
  }));
  const jobs = Array.from({ length: 30 }, (_, at): SiteView['jobs'][number] => ({
    id: String(4000 + at),
    handle: null,
    name: `case-${at}`,
    owner: 'alice',
    state: 'running',
    word: 'R',
    reason: null,
    queue: 'batch',
    elements: null,
    submittedAt: now - 1e6,
    startedAt: now - 9e5,
    endedAt: null,
    walltimeMs: null,
    nodeCount: 1,
    cpuCount: 4,
    memoryBytes: null,
    isExclusive: false,
    nodes: [`hpc${at + 1}`],
    exit: null,
    isOurs: at % 2 === 0,
  }));
  return { ...SITE, nodes, queues: [], jobs, filters: FILTERS };
}
