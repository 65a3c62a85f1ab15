// Jobs and tasks of a cluster that is made up: the same each time, of any number.

import type { InfoReply, OverviewReply } from '../../src/kernel/api/cluster.ts';
import type { HistoryReply } from '../../src/kernel/api/history.ts';
import type {
  ExplainReply,
  JobDetail,
  JobView,
  ListJobsReply,
  ListTasksReply,
  TaskView,
} from '../../src/kernel/api/jobs.ts';
import type { TaskMapReply } from '../../src/kernel/api/task-map.ts';
import type { Asked } from './server.ts';

const MINUTE_MS = 60_000;
const PAGE = 1000;
/** Looked at for one answer, as a head does. */
const SEARCHED_MAX = 10_000;
const OWNERS = ['alice', 'bob', 'carol', 'dimitri'];
const NAMES = ['relax', 'mesh', 'train-resnet', 'post', 'assemble_genome', 'sweep'];

/** The array whose map has so many cells, and the job that failed. */
export const ARRAY_ID = 3;
export const FAILED_ID = 2;

export interface JobWorld {
  readonly jobs: number;
  readonly tasks: number;
  readonly nodes: number;
  readonly now: number;
}

export function jobOf(id: number, { tasks, nodes, now }: JobWorld): JobView {
  const isArray = id === ARRAY_ID;
  const word = isArray ? 'running' : (WORDS[id % WORDS.length] as string);
  const state = word === 'pending' || word === 'running' ? word : 'done';
  const isDone = state === 'done';
  const submittedAt = now - (id % 900) * MINUTE_MS - 2 * MINUTE_MS;
  const startedAt = state === 'pending' ? null : submittedAt + MINUTE_MS;
  const exit = !isDone ? null : { code: word === 'failed' ? 3 : 0 };
  const kind = word === 'failed' ? 'failed' : 'completed';
  const place = { exit, process: null, detail: null };
  const taskCount = isArray ? tasks : 1;
  return {
    id,
    source: 'grid',
    siteJob: null,
    name: NAMES[id % NAMES.length] as string,
    owner: OWNERS[id % OWNERS.length] as string,
    partition: 'default',
    state,
    outcome: isDone ? { kind, ...place } : null,
    reason: state === 'pending' ? { kind: 'resources', words: WAITS } : null,
    notice: null,
    priority: state === 'pending' ? 1200 : null,
    taskCount,
    ...(isArray
      ? countsOf(tasks)
      : { taskCounts: { [state]: 1 }, outcomeCounts: isDone ? { [kind]: 1 } : {} }),
    array: isArray ? `0-${tasks - 1}` : null,
    submittedAt,
    startedAt,
    runStartedAt: startedAt,
    endedAt: isDone ? submittedAt + 2 * MINUTE_MS : null,
    nodes: startedAt === null ? [] : [`n${(id % nodes) + 1}`],
    exit,
    command: `./${NAMES[id % NAMES.length]} --case ${id}`,
    directory: '/home/alice',
    request: REQUEST,
    walltimeMs: 60 * MINUTE_MS,
    held: false,
  };
}

/** Counts of the tasks of the array. */
function countsOf(tasks: number): Pick<JobView, 'taskCounts' | 'outcomeCounts'> {
  const taskCounts: Record<string, number> = {};
  const outcomeCounts: Record<string, number> = {};
  for (let index = 0; index < tasks; index += 1) {
    const [state, kind] = sampleEndOf(index);
    taskCounts[state] = (taskCounts[state] ?? 0) + 1;
    if (state === 'done') outcomeCounts[kind] = (outcomeCounts[kind] ?? 0) + 1;
  }
  return { taskCounts, outcomeCounts };
}

function sampleEndOf(index: number): ['running' | 'pending' | 'done', 'failed' | 'completed'] {
  const kind = index % 97 === 13 ? 'failed' : 'completed';
  return [index % 5 === 4 ? 'running' : index % 11 === 7 ? 'pending' : 'done', kind];
}

const WORDS = ['running', 'pending', 'failed', 'completed', 'running', 'completed', 'completed'];
const WAITS = 'needs 4 cpus on one node; 2 are free at most';
const REQUEST: JobView['request'] = {
  nodeCount: 1,
  processesPerNode: 1,
  exclusive: false,
  labels: [],
  nodeNames: [],
  perNode: { cpuCount: 4, memoryBytes: 8 * 2 ** 30, gpuCount: 0, counted: {} },
};

export function listJobs(world: JobWorld, { query }: Asked): ListJobsReply {
  const limit = Number(query.get('limit') ?? PAGE);
  const first = Math.min(world.jobs, Number(query.get('before') ?? world.jobs + 1) - 1);
  const jobs: JobView[] = [];
  const search = query.get('search') ?? '';
  let id = first;
  for (; id > 0 && jobs.length < limit && first - id < SEARCHED_MAX; id -= 1) {
    const job = jobOf(id, world);
    if (`${job.name}\n${job.command}`.includes(search)) jobs.push(job);
  }
  return { jobs, next: id === 0 ? null : id + 1 };
}

/** The first of each kind; what runs is older than the newest page of jobs. */
export function overview(world: JobWorld, info: InfoReply): OverviewReply {
  const { jobs, queueLength, total, free } = info;
  const all = Array.from({ length: Math.min(world.jobs, 60) }, (_, at) => jobOf(at + 1, world));
  const first = (state: string) => all.filter((job) => job.state === state).slice(0, 8);
  const failed = all.filter(({ outcome }) => outcome?.kind === 'failed').slice(0, 8);
  return {
    jobs,
    queueLength,
    total,
    free,
    ended: { completed: 912, failed: 31, timeout: 2 },
    running: first('running'),
    waiting: first('pending').slice(0, 7),
    stuck: [],
    failed,
  };
}

export function jobDetail(world: JobWorld, { params }: Asked): JobDetail {
  const job = jobOf(Number(params['id']), world);
  return {
    ...job,
    program: { kind: 'argv', argv: job.command.split(' ') },
    environment: {},
    files: {},
    staging: null,
    dependencies: [],
    waitsFor: [],
    beginAt: null,
    nice: 0,
    qos: 'normal',
    onNodeLoss: { kind: 'wait' },
    requeue: true,
    retriesMax: 0,
    retryOf: null,
    warning: null,
    ranksPerNode: null,
    runningMax: null,
    umask: 18,
    notifications: null,
    cancelledBy: null,
    usage: { userUs: 42_000_000, systemUs: 3_000_000, memoryPeakBytes: 700 * 2 ** 20 },
    outputs:
      job.id === FAILED_ID ? { tasks: 1, files: 3, bytes: 5300, leftOut: 0, more: false } : null,
  };
}

export function explainJob(world: JobWorld, { params }: Asked): ExplainReply {
  const { state, reason, outcome } = jobOf(Number(params['id']), world);
  const isWaiting = state === 'pending';
  const waits = `It is pending: ${WAITS}.\nBy today’s plan it starts in 12 minutes on n2.`;
  return {
    state,
    reason,
    priority: null,
    startsAt: isWaiting ? world.now + 12 * MINUTE_MS : null,
    startNodes: isWaiting ? ['n2'] : [],
    smaller: isWaiting ? ['2 cpus instead of 4', 'a time limit of 10m instead of 1h'] : [],
    words: isWaiting ? waits : outcome === null ? 'It is running.' : `It ${outcome.kind}.`,
  };
}

export function rehearseJob(): ExplainReply {
  const nothing = { state: 'pending' as const, reason: null, priority: null, startsAt: null };
  return { ...nothing, startNodes: ['n2'], smaller: [], words: 'It would start now on n2.' };
}

export function listTasks(world: JobWorld, { params, query }: Asked): ListTasksReply {
  const one = /\[(\d+)\]$/.exec(params['id'] ?? '')?.[1];
  if (one !== undefined) return { tasks: [taskOf(Number(one), world)], next: null };
  if (query.get('failed') === 'true') return failedTasks(world, query);
  const from = Number(query.get('after') ?? -1) + 1;
  const until = Math.min(world.tasks, from + Number(query.get('limit') ?? PAGE));
  const tasks = Array.from({ length: Math.max(0, until - from) }, (_, at) =>
    taskOf(from + at, world),
  );
  return { tasks, next: until < world.tasks ? until - 1 : null };
}

function failedTasks(world: JobWorld, query: URLSearchParams): ListTasksReply {
  const after = Number(query.get('after') ?? -1);
  const all = Array.from({ length: world.tasks }, (_, index) => taskOf(index, world));
  const failed = all.filter(
    ({ outcome, index }) => outcome?.kind === 'failed' && (index ?? 0) > after,
  );
  const limit = Number(query.get('limit') ?? PAGE);
  const tasks = failed.slice(0, limit);
  return { tasks, next: failed.length > limit ? (tasks.at(-1)?.index ?? null) : null };
}

/** The letters are the first ones of their words. */
export function mapTasks(world: JobWorld): TaskMapReply {
  const letters = Array.from({ length: world.tasks }, (_, index) => {
    const { state, outcome } = taskOf(index, world);
    return (outcome?.kind ?? state).charAt(0);
  });
  return {
    version: 'made-up',
    indices: `0-${world.tasks - 1}`,
    states: letters.join(''),
    legend: { r: 'running', p: 'pending', f: 'failed', c: 'completed' },
    changes: [],
    isDone: false,
  };
}

function taskOf(index: number, { now, nodes }: JobWorld): TaskView {
  const [state, kind] = sampleEndOf(index);
  const exit = { code: kind === 'failed' ? 1 : 0 };
  const isDone = state === 'done';
  return {
    id: `${ARRAY_ID}[${index}]`,
    jobId: ARRAY_ID,
    index,
    state,
    epoch: 1,
    reason: null,
    outcome: isDone ? { kind, exit, process: null, detail: null } : null,
    notice: null,
    nodes: [`n${(index % nodes) + 1}`],
    startedAt: now - 5 * MINUTE_MS,
    item: { lr: String((index % 10) / 10), seed: String(Math.floor(index / 10)) },
    endedAt: isDone ? now - 2 * MINUTE_MS : null,
    exit: isDone ? exit : null,
    usage: null,
  };
}

export function history(world: JobWorld, { query }: Asked): HistoryReply {
  const job = jobOf(Number(query.get('jobId') ?? FAILED_ID), world);
  const { id, outcome, startedAt, endedAt, nodes } = job;
  if (outcome === null || endedAt === null) return { jobs: [], tasks: [], ...NO_NEXT };
  const first = { ...outcome, kind: 'node_fail' as const, detail: 'n1 was lost' };
  const task = { id: String(id), jobId: id, index: null, nodes, ...USED };
  const half = endedAt - MINUTE_MS / 2;
  return {
    jobs: [],
    tasks: [
      { ...task, epoch: 1, final: false, outcome: first, startedAt, endedAt: half },
      { ...task, epoch: 2, final: true, outcome, startedAt: half + 5000, endedAt },
    ],
    ...NO_NEXT,
  };
}

const NO_NEXT = { next: null, nextTask: null };
const USED = { userUs: 1_000_000, systemUs: 0, memoryPeakBytes: 2 ** 20 };
