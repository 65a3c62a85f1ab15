// The tasks of a job by index: those that wait or run from memory, ended ones from the history.

import type { TaskView } from '../../../api/jobs.ts';
import { IntervalSet } from '../../../base/interval-set.ts';
import { err, ok } from '../../../base/result.ts';
import { shownState } from '../../../machine/tasks/shown-state.ts';
import { refuse } from '../../../model/errors.ts';
import type { Item } from '../../../model/job.ts';
import type { TaskRow } from '../../../ports/history.ts';
import { indicesOfRecord, type JobRecord, taskOutcomeOf } from '../../answers/job-record.ts';
import { Reasons } from '../../answers/reasons.ts';
import { itemsOf, maySeeItems } from '../../answers/task-item.ts';
import { viewLiveTask, viewPastTask, viewUnstartedTask } from '../../answers/task-view.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';
import { checkIndex, findJob, readPlace } from '../find-job.ts';

const LIMIT_DEFAULT = 100;
const ROWS_PER_LOOK = 1000;
/** Bounds one request for what failed: the head has others to answer. */
const LOOKS_MAX = 10;

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
  const wish = { all, after: query.after ?? -1, limit, reasons: new Reasons(engine, actor.name) };
  const { failed, only } = query;
  if (failed === true && only !== undefined) {
    const what = 'query: `failed` and `only` exclude each other; ask for one of them';
    return err(refuse('argument.invalid', { what }));
  }
  const begun = only === undefined ? null : begunOf(found.value, all, only);
  const look = failed === true ? failedPage : page;
  const { views, next } = await look(engine, found.value, { ...wish, all: begun ?? all });
  const item = maySeeItems(found.value.owner, actor) ? itemsOf(found.value.spec) : undefined;
  return ok({
    tasks: item === undefined ? views : views.map((task) => withItem(task, item)),
    next,
    ...(begun !== null && { waiting: within(waitingOf(found.value, all), wish.after, next) }),
  });
};

/** All that have begun, but for `active` those that are done. */
function begunOf(record: JobRecord, all: IntervalSet, only: 'begun' | 'active'): IntervalSet {
  if (only === 'active' && record.live === null) return new IntervalSet();
  const begun = copyOf(all);
  begun.subtract(waitingOf(record, all));
  if (only === 'active') for (const done of record.live?.ended.values() ?? []) begun.subtract(done);
  return begun;
}

/** All that have not begun, whatever they wait for. */
function waitingOf({ live }: JobRecord, all: IntervalSet): IntervalSet {
  if (live === null) return new IntervalSet();
  const waiting = copyOf(all);
  for (const done of live.ended.values()) waiting.subtract(done);
  const begun = [...live.active.values()].filter((task) => shownState(task) !== 'pending');
  const indices = begun.map(({ index }) => index).sort((a, b) => a - b);
  waiting.subtract(IntervalSet.of(indices.map((index) => [index, index] as const)));
  return waiting;
}

/** Those above `after`, and up to `to`; null: to the end. */
function within(indices: IntervalSet, after: number, to: number | null): string {
  const some = new IntervalSet();
  for (const [from, last] of indices.intervals()) {
    const [low, high] = [Math.max(from, after + 1), Math.min(last, to ?? last)];
    if (low <= high) some.addRange(low, high);
  }
  return some.toString();
}

const copyOf = (indices: IntervalSet): IntervalSet => IntervalSet.of(indices.intervals());

interface TaskQuery {
  readonly all: IntervalSet;
  readonly after: number;
  readonly limit: number;
  readonly reasons: Reasons;
}

async function page(engine: Engine, record: JobRecord, { all, after, limit, reasons }: TaskQuery) {
  const indices = take(all, after, limit + 1);
  const views = await viewTasks(engine, record, indices.slice(0, limit), reasons);
  return { views, next: indices.length > limit ? (indices[limit - 1] ?? null) : null };
}

/** How tasks of a job in memory ended is known at once; for others the history is read. */
async function failedPage(
  engine: Engine,
  record: JobRecord,
  { all, after, limit, reasons }: TaskQuery,
) {
  const isWanted = (index: number): boolean => {
    const kind = taskOutcomeOf(record, index);
    return record.live === null || (kind !== undefined && isFailure(kind));
  };
  const views: TaskView[] = [];
  let from = after;
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const indices = take(all, from, ROWS_PER_LOOK + 1, isWanted);
    const looked = indices.slice(0, ROWS_PER_LOOK);
    for (const view of await viewTasks(engine, record, looked, reasons)) {
      if (view.outcome === null || !isFailure(view.outcome.kind)) continue;
      if (views.length === limit) return { views, next: views.at(-1)?.index ?? null };
      views.push(view);
    }
    if (indices.length <= ROWS_PER_LOOK) return { views, next: null };
    from = looked.at(-1) ?? from;
  }
  return { views, next: from };
}

function isFailure(kind: string): boolean {
  return kind !== 'completed' && kind !== 'cancelled';
}

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
  const ended = indices.filter((index) => taskOutcomeOf(record, index) !== undefined);
  const rows = await lastRows(engine, record, ended);
  return indices.map((index) => {
    const kind = taskOutcomeOf(record, index);
    if (record.live !== null && kind === undefined) {
      return viewLiveTask(engine, record.live, index, reasons);
    }
    const row = rows.get(index);
    if (row?.final === true) return viewPastTask(row);
    const own = record.spec.array === null ? null : index;
    // A task of an array may have ended long before the last one did.
    const end = { kind: kind ?? 'cancelled', at: own === null ? record.endedAt : null };
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
function take(
  indices: IntervalSet,
  after: number,
  count: number,
  isWanted: (index: number) => boolean = () => true,
): number[] {
  const taken: number[] = [];
  for (const [from, to] of indices.intervals()) {
    for (let index = Math.max(from, after + 1); index <= to; index += 1) {
      if (taken.length === count) return taken;
      if (isWanted(index)) taken.push(index);
    }
  }
  return taken;
}
