// The tasks of a job by index: those that wait or run from memory, ended ones from the history.

import type { TaskView } from '../../../api/jobs.ts';
import { IntervalSet } from '../../../core/base/interval-set.ts';
import { ok } from '../../../core/base/result.ts';
import type { Item } from '../../../core/model/job.ts';
import type { TaskRow } from '../../../ports/history.ts';
import { endOf, indicesOfRecord, type JobRecord } from '../../answers/job-record.ts';
import { Reasons } from '../../answers/reasons.ts';
import { itemsOf, maySeeItems } from '../../answers/task-item.ts';
import { viewLiveTask, viewPastTask, viewUnstartedTask } from '../../answers/task-view.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';
import { checkIndex, findJob, readPlace } from '../find-job.ts';

const LIMIT_DEFAULT = 100;
const ROWS_PER_LOOK = 1000;

export const listTasks: Handler<'listTasks'> = async ({ engine }, { params, query, actor }) => {
  const place = readPlace(params.id);
  if (!place.ok) return place;
  // What has just ended must be in the history before it is looked up there.
  await engine.settled();
  const found = await findJob(engine, place.value.jobId);
  if (!found.ok) return found;
  const index = checkIndex(found.value, place.value);
  if (!index.ok) return index;
  const limit = query.limit ?? LIMIT_DEFAULT;
  const all = index.value === undefined ? indicesOfRecord(found.value) : one(index.value);
  const indices = take(all, query.after ?? -1, limit + 1);
  const reasons = new Reasons(engine, actor.name);
  const views = await viewTasks(engine, found.value, indices.slice(0, limit), reasons);
  const item = maySeeItems(found.value.owner, actor) ? itemsOf(found.value.spec) : undefined;
  const tasks = item === undefined ? views : views.map((task) => withItem(task, item));
  return ok({ tasks, next: indices.length > limit ? (indices[limit - 1] ?? null) : null });
};

function withItem(task: TaskView, itemOf: (index: number) => Item | undefined): TaskView {
  const item = itemOf(task.index ?? 0);
  return item === undefined ? task : { ...task, item };
}

/** Views of the tasks with these indices, which ascend; 0 is a plain job's only task. */
export async function viewTasks(
  engine: Engine,
  record: JobRecord,
  indices: readonly number[],
  reasons = new Reasons(engine),
): Promise<TaskView[]> {
  const ended = indices.filter((index) => endOf(record, index) !== undefined);
  const rows = await lastRows(engine, record, ended);
  return indices.map((index) => {
    const kind = endOf(record, index);
    if (record.live !== null && kind === undefined) {
      return viewLiveTask(engine, record.live, index, reasons);
    }
    const row = rows.get(index);
    if (row?.final === true) return viewPastTask(row);
    const end = { kind: kind ?? 'cancelled', at: record.endedAt };
    const own = record.spec.array === null ? null : index;
    return viewUnstartedTask({ jobId: record.id, index: own }, end, row);
  });
}

/** The row of each task's last epoch. */
async function lastRows(
  { store }: Engine,
  { id, spec }: JobRecord,
  indices: readonly number[],
): Promise<Map<number, TaskRow>> {
  const rows = new Map<number, TaskRow>();
  const first = indices[0];
  const last = indices.at(-1);
  if (first === undefined || last === undefined) return rows;
  const stored = (index: number): number => (spec.array === null ? -1 : index);
  let after = { jobId: id, taskIndex: stored(first) - 1, epoch: Number.MAX_SAFE_INTEGER };
  for (;;) {
    const page = await store.tasks({ jobIds: [id], afterTask: after, limit: ROWS_PER_LOOK });
    for (const row of page) rows.set(Math.max(0, row.taskIndex), row);
    const end = page.at(-1);
    if (end === undefined || page.length < ROWS_PER_LOOK || end.taskIndex > stored(last))
      return rows;
    after = { jobId: id, taskIndex: end.taskIndex, epoch: end.epoch };
  }
}

function one(index: number): IntervalSet {
  return IntervalSet.of([[index, index]]);
}

/** The first `count` members beyond `after`. */
function take(indices: IntervalSet, after: number, count: number): number[] {
  const taken: number[] = [];
  for (const [from, to] of indices.intervals()) {
    for (let index = Math.max(from, after + 1); index <= to; index += 1) {
      if (taken.length === count) return taken;
      taken.push(index);
    }
  }
  return taken;
}
