// What agents report about epochs. Everything here is idempotent: a report that was handled
// already, or that is about an epoch nobody waits for, gives no event (S7).

import { unreachable } from '../../base/assert.ts';
import type { NodeName } from '../../model/ids.ts';
import { NODE_LAUNCH_FAILURES_MAX } from '../../model/limits.ts';
import type { EndReport, Report, TaskReport } from '../../model/orders.ts';
import type { Part, Task } from '../jobs/facts.ts';
import type { Node } from '../nodes/facts.ts';
import { decidePauseReport } from '../pauses/report.ts';
import type { Step } from '../step.ts';
import { settleTask } from './ending.ts';
import { failedBefore } from './verdict.ts';

type TurnReport = Extract<TaskReport, { kind: 'task_suspended' | 'task_resumed' }>;

/** What follows from one report of a node's session. */
export function decideReport(step: Step, name: NodeName, session: number, report: Report): void {
  const node = step.state.nodes.get(name);
  // An older session's reports come again on the newer one, if they still matter.
  if (node === undefined || node.session !== session) return;
  if (report.kind === 'node_pause') decidePauseReport(step, node, report);
  else decideTaskReport(step, node, report);
}

function decideTaskReport(step: Step, node: Node, report: TaskReport): void {
  const { name } = node;
  const holding = node.holding.get(report.epochId);
  if (holding === undefined) return;
  const { epochId } = report;
  if (holding.task === null) {
    if (report.kind !== 'task_ended') return;
    step.emit({ kind: 'claim_dropped', epochId, node: name });
    placeNext(step, node, report);
    return;
  }
  const part = holding.task.parts.get(name);
  if (part === undefined || part.state === 'ended') return;
  switch (report.kind) {
    case 'task_started':
      if (part.state === 'ordered') {
        if (part.isNext) step.emit({ kind: 'part_placed', epochId, node: name, begun: true });
        const { agoMs } = report;
        const before = agoMs === undefined ? {} : { startedAt: step.at - agoMs };
        const when = { ...nodeTime(step, report.at), ...before };
        step.emit({ kind: 'part_started', epochId, node: name, ...when });
      }
      return;
    case 'task_suspended':
    case 'task_resumed':
      return turnPart(step, holding.task, part, report);
    case 'task_built':
      if (part.state === 'started' || part.state === 'suspended') {
        if (part.isBuilt) return;
        const tookMs = Math.max(0, report.tookMs);
        step.emit({ kind: 'part_built', epochId, node: name, tookMs });
      }
      return;
    case 'task_storing':
      if (part.state === 'started' || part.state === 'suspended') {
        const since = headTime(step, holding.task, part, report.at);
        step.emit({ kind: 'part_storing', epochId, node: name, since });
      }
      return;
    case 'task_ended':
      return endPart(step, node, part, report);
    default:
      return unreachable(report);
  }
}

/** A stop or a go that was heard of before must not undo the one after it. */
function turnPart(step: Step, task: Task, part: Part, report: TurnReport): void {
  const { kind, epochId, turn, at } = report;
  if (turn <= part.turnHeard) return;
  const since = headTime(step, task, part, at);
  const said = { epochId, node: part.share.node, turn, since };
  if (kind === 'task_suspended' && part.state === 'started') {
    step.emit({ kind: 'part_suspended', ...said });
  }
  if (kind === 'task_resumed' && part.state === 'suspended') {
    step.emit({ kind: 'part_resumed', ...said });
  }
}

function endPart(step: Step, node: Node, part: Part, report: EndReport): void {
  const { epochId, cause, nodeFault, processes, usage, detail, there, stored } = report;
  const task = node.holding.get(epochId)?.task;
  if (task === null || task === undefined) return;
  if (part.isNext && processes.length > 0) {
    step.emit({ kind: 'part_placed', epochId, node: node.name, begun: true });
  }
  if (part.state === 'ordered') startBeforeEnd(step, task, part, report);
  step.emit({
    kind: 'part_ended',
    epochId,
    node: part.share.node,
    cause,
    nodeFault,
    processes,
    usage,
    ...(detail === undefined ? {} : { detail }),
    ...(there === undefined ? {} : { there }),
    ...(stored === undefined ? {} : { stored }),
    ...lateEnd(step, task, part, report.at),
  });
  placeNext(step, node, report);
  if (node.launchFailures >= NODE_LAUNCH_FAILURES_MAX && node.drain === null) {
    const reason = `${node.launchFailures} launches failed in a row; last: ${detail ?? cause}`;
    step.emit({ kind: 'node_drained', node: node.name, reason, by: 'system' });
  }
  const isUnbuilt = failedBefore(step, task, part) !== null && part.isOfOldAttempt === undefined;
  settleTask(step, task);
  if (!isUnbuilt) return;
  const failed = { node: node.name, epochId };
  for (const hook of step.state.machine.hooks.afterFailedBefore) hook(step, task.job, failed);
}

/** The node has given the place to another task of the job. */
function placeNext(step: Step, node: Node, { next }: EndReport): void {
  const holding = next === undefined ? undefined : node.holding.get(next);
  if (holding === undefined) return;
  if (holding.next === null) {
    // Heard of at a hello: the place is not free.
    if (holding.task !== null) step.state.scratch.freed.taken(node.name, holding.task.job.id);
    return;
  }
  step.emit({ kind: 'part_placed', epochId: holding.epochId, node: node.name, begun: true });
}

/**
 * The record of its start was lost with a store that was put back: the node tells the time of it
 * again with the end, by its clock. It ran for as long as the node measured, after its job came.
 */
function startBeforeEnd(step: Step, { job }: Task, { share }: Part, report: EndReport): void {
  if (report.startedAt === undefined || report.cause === 'launch_failed') return;
  const { epochId } = report;
  const ranMs = Math.max(0, report.at - report.startedAt);
  const startedAt = Math.min(step.at - ranMs, Math.max(report.startedAt, job.submittedAt));
  const nodeAt = report.startedAt + step.at - startedAt;
  step.emit({ kind: 'part_started', epochId, node: share.node, startedAt, nodeAt });
}

/** Clocks this close are taken for one: most records need no second time. */
const SAME_TIME_MS = 500;
/** A report that is on its way for longer waited for the head, or for the network. */
const LATE_MS = 2000;

function nodeTime(step: Step, at: number): { readonly nodeAt?: number } {
  return Math.abs(step.at - at) <= SAME_TIME_MS ? {} : { nodeAt: at };
}

/**
 * An instant of a node by the head's clock: as long after the start of the part as the node
 * measured. What the node said of it may have been on its way for less time than its start was.
 */
function headTime({ at: now }: Step, { startedAt }: Task, part: Part, at: number): number {
  const { nodeStartedAt } = part;
  if (startedAt === null || nodeStartedAt === undefined) return Math.min(at, now);
  return Math.min(startedAt + at - nodeStartedAt, now + LATE_MS);
}

/**
 * When a part ended of which the head hears late: as long after its start as the node measured,
 * whatever the node's clock says, and neither before the task started nor later than now.
 */
function lateEnd(step: Step, task: Task, part: Part, at: number): { readonly endedAt?: number } {
  const { startedAt } = task;
  const { nodeStartedAt } = part;
  if (startedAt === null || nodeStartedAt === undefined) return {};
  const endedAt = startedAt + Math.max(0, at - nodeStartedAt);
  return step.at - endedAt < LATE_MS ? {} : { endedAt };
}
