// Nodes over time, as bars: from the history, from what runs, and from the same plan as `why`.

import type { ScheduleBar } from '../../../api/schedule.ts';
import { ok } from '../../../base/result.ts';
import { outlook } from '../../../machine/answers/questions.ts';
import type { Job, Task } from '../../../machine/jobs/facts.ts';
import type { State } from '../../../machine/state.ts';
import { timeLeft } from '../../../machine/tasks/time-limit.ts';
import { formatTaskId, type JobId, type NodeName } from '../../../model/ids.ts';
import type { TaskRow } from '../../../ports/history.ts';
import type { PlannedStart } from '../../../scheduler/answers/forecast.ts';
import { viewGuess } from '../../answers/prospect-view.ts';
import type { Engine } from '../../engine.ts';
import type { Call, Handler } from '../call.ts';
import type { SharedAnswers } from '../shared-answers.ts';

const HOUR_MS = 3_600_000;
const PAST_MAX = 2000;
/** Bars of what runs, and names of nodes in them: about 2 MB. */
const RUNNING_MAX = 10_000;
const PLACES_MAX = 20_000;
/** Jobs that have left memory, looked up for one answer. */
const NAMED_MAX = 1000;

type Query = Call<'schedule'>['query'];

export const schedule: Handler<'schedule'> = async ({ engine, shared }, { query }) => {
  const { from, limit, node } = query;
  const question = `schedule ${JSON.stringify([from, limit, node])}`;
  return ok(await shared.of(question, () => scheduleOf(engine, shared, query)));
};

async function scheduleOf(engine: Engine, shared: SharedAnswers, query: Query) {
  const at = engine.now();
  const { from = at - HOUR_MS, limit = PAST_MAX, node } = query;
  // One more than is told: whether there is one.
  const ended = { from, ...(node === undefined ? {} : { node }) };
  const rows = limit === 0 ? [] : await engine.store.tasks({ ended, limit: limit + 1 });
  const told = rows.slice(0, limit);
  const named = await namesOf(engine, told);
  const past = told.map((row) => pastBar(row, named.get(row.jobId)));
  const running = runningBars(engine.state, at, node);
  const planned = shared.of('plan', () => planOf(engine));
  const isThere = ({ nodes }: ScheduleBar): boolean => node === undefined || nodes.includes(node);
  return {
    at,
    bars: [...past, ...running.bars, ...planned.bars.filter(isThere)],
    isWhole: planned.isWhole,
    isPastWhole: rows.length <= limit,
    isRunningWhole: running.isWhole,
  };
}

/** What bars say of a job besides its times. */
type Words = Pick<ScheduleBar, 'name' | 'owner' | 'cpuCount'>;

/** Words about jobs in memory, and of the rows of those that have left it. */
async function namesOf({ state, store }: Engine, rows: readonly TaskRow[]) {
  const named = new Map<number, Words>();
  const gone = new Set<number>();
  for (const { jobId } of rows) {
    const job = state.jobs.get(jobId as JobId);
    if (job === undefined) gone.add(jobId);
    else named.set(jobId, jobWordsOf(job));
  }
  const jobIds = [...gone].slice(0, NAMED_MAX);
  if (jobIds.length === 0) return named;
  const found = await store.jobs({ jobIds, withoutSpecs: true, limit: jobIds.length });
  for (const { jobId, name, owner, cpuCount } of found) named.set(jobId, { name, owner, cpuCount });
  return named;
}

function pastBar(row: TaskRow, words: Words = UNKNOWN): ScheduleBar {
  const { jobId, taskIndex, nodes, startedAt, endedAt, outcome } = row;
  return {
    kind: 'past',
    id: formatTaskId(jobId as JobId, taskIndex < 0 ? null : taskIndex),
    jobId,
    ...words,
    nodes: nodes === '' ? [] : nodes.split(','),
    from: startedAt as number,
    until: endedAt,
    word: outcome,
  };
}

/** On one node, or everywhere. */
export function runningBars(state: State, at: number, node: string | undefined) {
  const bars: ScheduleBar[] = [];
  let places = 0;
  for (const task of node === undefined ? activeTasks(state) : tasksOn(state, node)) {
    if (task.parts.size === 0 || task.startedAt === null) continue;
    places += task.parts.size;
    const isFull = bars.length >= RUNNING_MAX || places > Math.max(PLACES_MAX, task.parts.size);
    if (isFull) return { bars, isWhole: false };
    bars.push(runningBar(task, at));
  }
  return { bars, isWhole: true };
}

function* activeTasks({ jobs }: State): Generator<Task> {
  for (const job of jobs.values()) if (job.outcome === null) yield* job.active.values();
}

function tasksOn({ nodes }: State, node: string): Set<Task> {
  const held = [...(nodes.get(node as NodeName)?.holding.values() ?? [])];
  return new Set(held.flatMap(({ task }) => (task === null ? [] : [task])));
}

function runningBar(task: Task, at: number): ScheduleBar {
  const { job, index, parts, startedAt, state } = task;
  const left = timeLeft(task, at);
  const [first] = parts.values();
  return {
    kind: 'running',
    id: formatTaskId(job.id, job.spec.array === null ? null : index),
    jobId: job.id,
    ...jobWordsOf(job),
    ...(first === undefined ? {} : { cpuCount: first.share.resources.cpuCount }),
    nodes: [...parts.keys()],
    from: startedAt as number,
    until: left === null ? null : at + left,
    word: state,
  };
}

/** One plan for all who look: it costs as much as a forecast. */
function planOf(engine: Engine) {
  const { starts, isWhole } = outlook(engine);
  // Of a site that takes no work nobody knows when it starts anything.
  const known = starts.filter(({ wait }) => wait === undefined || Number.isFinite(wait.waitMs));
  return { bars: known.map((start) => plannedBar(engine.state, start)), isWhole };
}

export function plannedBar({ jobs }: Pick<State, 'jobs'>, start: PlannedStart): ScheduleBar {
  const { jobId, index, nodes, at, walltimeMs, wait } = start;
  const job = jobs.get(jobId);
  const from = at + (wait?.waitMs ?? 0);
  return {
    kind: 'planned',
    id: formatTaskId(jobId, job?.spec.array == null ? null : index),
    jobId,
    ...jobWordsOf(job),
    nodes: [...nodes],
    from: Math.round(from),
    until: walltimeMs === null ? null : Math.round(from + walltimeMs),
    word: 'pending',
    ...(wait === undefined ? {} : { guess: viewGuess(wait) }),
  };
}

const UNKNOWN: Words = { name: '', owner: '' };

function jobWordsOf(job: Job | undefined): Words {
  if (job === undefined) return UNKNOWN;
  const { name, request } = job.spec;
  const { exclusive, perNode } = request;
  return { name, owner: job.owner, ...(exclusive ? {} : { cpuCount: perNode.cpuCount }) };
}
