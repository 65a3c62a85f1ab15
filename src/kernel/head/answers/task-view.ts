// One task as the API shows it: from memory while it is not done, from its row afterwards.

import type { TaskView } from '../../api/jobs.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import { isNext, shownState } from '../../machine/tasks/shown-state.ts';
import { formatTaskId, type JobId } from '../../model/ids.ts';
import type { OutcomeKind } from '../../model/job.ts';
import type { TaskRow } from '../../ports/history.ts';
import type { Engine } from '../engine.ts';
import { outcomeOf } from './job-record.ts';
import { viewExit, viewOutcome } from './job-view.ts';
import type { Reasons } from './reasons.ts';
import { epochStart } from './run-start.ts';
import { taskNotice } from './task-notice.ts';

/** A task that waits or runs; `index` as the state counts, 0 for a plain job. */
export function viewLiveTask(engine: Engine, job: Job, index: number, reasons: Reasons): TaskView {
  const task = job.active.get(index);
  const state = task === undefined ? 'pending' : shownState(task);
  return {
    ...blank(job.id, job.spec.array === null ? null : index),
    state,
    epoch: task?.epoch ?? 0,
    reason: state === 'pending' ? reasons.of(job, index) : null,
    notice: task === undefined ? null : taskNotice(engine, task),
    nodes: task === undefined ? [] : nodesInOrder(task),
    startedAt: task === undefined ? null : epochStart(task),
  };
}

/** A task that is done, from the row of its last epoch. */
export function viewPastTask(row: TaskRow): TaskView {
  const outcome = outcomeOf(row);
  return {
    ...blank(row.jobId, row.taskIndex < 0 ? null : row.taskIndex),
    state: 'done',
    epoch: row.epoch,
    outcome: outcome === null ? null : viewOutcome(outcome),
    nodes: row.nodes === '' ? [] : row.nodes.split(','),
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    exit: viewExit(outcome?.exit),
    usage: {
      userUs: row.userUs,
      systemUs: row.systemUs,
      memoryPeakBytes: row.memoryPeakBytes,
    },
  };
}

/** A task that ended while it waited. `last`: the start that it had before; absent: none. */
export function viewUnstartedTask(
  { jobId, index }: { readonly jobId: number; readonly index: number | null },
  ended: { readonly kind: OutcomeKind; readonly at: number | null },
  last: TaskRow | undefined,
): TaskView {
  const outcome = viewOutcome({ kind: ended.kind });
  const view: TaskView = { ...blank(jobId, index), state: 'done', outcome, endedAt: ended.at };
  if (last === undefined) return view;
  // Its output is still there, by the number of that start.
  const { epoch, nodes, startedAt, exit, usage } = viewPastTask(last);
  return { ...view, epoch, nodes, startedAt, exit, usage };
}

function blank(jobId: number, index: number | null): TaskView {
  return {
    id: formatTaskId(jobId as JobId, index),
    jobId,
    index,
    state: 'pending',
    epoch: 0,
    outcome: null,
    reason: null,
    notice: null,
    nodes: [],
    startedAt: null,
    endedAt: null,
    exit: null,
    usage: null,
  };
}

/** What is next on a node holds nothing there: its reason names the node. */
function nodesInOrder(task: Task): string[] {
  if (isNext(task)) return [];
  return [...task.parts].sort(([, a], [, b]) => a.nodeRank - b.nodeRank).map(([name]) => name);
}
