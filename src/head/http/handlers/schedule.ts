// Nodes over time, as bars: from the history, from what runs, and from the same plan as `why`.

import type { ScheduleBar } from '../../../api/schedule.ts';
import { ok } from '../../../core/base/result.ts';
import { outlook } from '../../../core/controller/answers/questions.ts';
import type { Job, Task } from '../../../core/controller/jobs/facts.ts';
import { timeLeft } from '../../../core/controller/tasks/time-limit.ts';
import { formatTaskId, type JobId } from '../../../core/model/ids.ts';
import type { TaskRow } from '../../../ports/history.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';

const HOUR_MS = 3_600_000;
const PAST_MAX = 2000;
/** One plan for all who look: it costs as much as a forecast. */
const PLAN_MS = 1000;

interface Planned {
  readonly at: number;
  readonly seq: number;
  readonly bars: readonly ScheduleBar[];
  readonly isWhole: boolean;
}

const PLANS = new WeakMap<Engine, Planned>();

export const schedule: Handler<'schedule'> = async ({ engine }, { query }) => {
  const at = engine.now();
  const { from = at - HOUR_MS, limit = PAST_MAX } = query;
  const rows = limit === 0 ? [] : await engine.store.tasks({ limit });
  const past = rows
    .filter(({ startedAt, endedAt }) => startedAt !== null && endedAt >= from)
    .map((row) => pastBar(row, engine.state.jobs.get(row.jobId as JobId)));
  const planned = planOf(engine, at);
  const bars = [...past, ...runningBars(engine, at), ...planned.bars];
  return ok({ at, bars, isWhole: planned.isWhole });
};

function pastBar(row: TaskRow, job: Job | undefined): ScheduleBar {
  const { jobId, taskIndex, nodes, startedAt, endedAt, outcome } = row;
  return {
    kind: 'past',
    id: formatTaskId(jobId as JobId, taskIndex < 0 ? null : taskIndex),
    jobId,
    ...wordsOf(job),
    nodes: nodes === '' ? [] : nodes.split(','),
    from: startedAt as number,
    until: endedAt,
    word: outcome,
  };
}

function runningBars({ state }: Engine, at: number): ScheduleBar[] {
  const bars: ScheduleBar[] = [];
  for (const job of state.jobs.values()) {
    if (job.outcome !== null) continue;
    for (const task of job.active.values()) {
      if (task.parts.size > 0 && task.startedAt !== null) bars.push(runningBar(task, at));
    }
  }
  return bars;
}

function runningBar(task: Task, at: number): ScheduleBar {
  const { job, index, parts, startedAt, state } = task;
  const left = timeLeft(task, at);
  return {
    kind: 'running',
    id: formatTaskId(job.id, job.spec.array === null ? null : index),
    jobId: job.id,
    ...wordsOf(job),
    nodes: [...parts.keys()],
    from: startedAt as number,
    until: left === null ? null : at + left,
    word: state,
  };
}

function planOf(engine: Engine, at: number): Planned {
  const known = PLANS.get(engine);
  const isFresh = known !== undefined && at - known.at < PLAN_MS && known.at <= at;
  if (isFresh) return known;
  const { starts, isWhole } = outlook(engine);
  const bars = starts.map(({ jobId, index, nodes, at: from, walltimeMs }): ScheduleBar => {
    const job = engine.state.jobs.get(jobId);
    return {
      kind: 'planned',
      id: formatTaskId(jobId, job?.spec.array == null ? null : index),
      jobId,
      ...wordsOf(job),
      nodes: [...nodes],
      from: Math.round(from),
      until: walltimeMs === null ? null : Math.round(from + walltimeMs),
      word: 'pending',
    };
  });
  const planned = { at, seq: engine.seq, bars, isWhole };
  PLANS.set(engine, planned);
  return planned;
}

function wordsOf(job: Job | undefined): { name: string; owner: string } {
  return { name: job?.spec.name ?? '', owner: job?.owner ?? '' };
}
