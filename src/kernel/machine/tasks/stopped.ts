// Tasks that were stopped to make room, as others see them: who plans, and who sets nodes aside.

import type { NodeName } from '../../model/ids.ts';
import { NO_RESOURCES, subtractResources } from '../../model/resources.ts';
import type { Stopped } from '../../scheduler/cycle/resume.ts';
import type { Window } from '../../scheduler/room/lane.ts';
import { NodePool, type NodeView } from '../../scheduler/room/pool.ts';
import { outlasts } from '../../scheduler/room/windows.ts';
import type { Task } from '../jobs/facts.ts';
import type { Node } from '../nodes/facts.ts';
import { maintenanceOn } from '../nodes/in-maintenance.ts';
import { viewOf } from '../nodes/view.ts';
import type { State } from '../state.ts';
import { timeLeft } from './time-limit.ts';

/** Those that wait for room; one that its owner or a maintenance keeps stopped too takes none. */
export function stoppedTasks(state: State, at: number): Stopped[] {
  return [...state.indexes.preempted]
    .filter((task) => task.ending === null)
    .map((task) => {
      const one = stoppedOf(task, at);
      const isKept = task.stops.size > 1;
      return {
        ...one,
        isHeld: isKept || one.nodes.some((name) => maintenanceOn(state, name) !== null),
      };
    });
}

/** The task in the form in which the scheduler sees it. */
export function stoppedOf(task: Task, at: number): Stopped {
  const { spec, id, entry } = task.job;
  return {
    jobId: id,
    index: task.index,
    partition: spec.partition,
    qos: entry.qos,
    nodes: nodesOf(task),
    cpuCount: spec.request.perNode.cpuCount,
    timeLeftMs: timeLeft(task, at),
    reservation: spec.reservation ?? null,
  };
}

function nodesOf({ parts }: Task): NodeName[] {
  const held = [...parts.values()].filter((part) => part.state !== 'ended');
  return held.map((part) => part.share.node);
}

/** Those of their nodes that may not get work. */
export function closedNodes(
  { nodes, indexes: { pool } }: State,
  stopped: readonly Stopped[],
): ReadonlyMap<NodeName, NodeView> {
  const closed = new Map<NodeName, NodeView>();
  for (const name of stopped.flatMap((one) => one.nodes)) {
    const node = nodes.get(name);
    if (pool.get(name) === undefined && node !== undefined) closed.set(name, viewOf(node));
  }
  return closed;
}

/** A pool of these nodes alone, whether or not they may get work. */
export function poolOf({ nodes }: State, names: Iterable<NodeName>): NodePool {
  const pool = new NodePool();
  for (const name of new Set(names)) {
    const node = nodes.get(name);
    if (node !== undefined) pool.set(viewOf(node));
  }
  return pool;
}

/** What a reservation brings, as far as it decides which stopped tasks are in its way. */
export interface Coming {
  /** Times of a recurring reservation; none if it comes once: its end is waited for. */
  readonly times: readonly Pick<Window, 'from' | 'to'>[];
  /** What recurs already. */
  readonly windowsOn: ReadonlyMap<NodeName, readonly Window[]>;
  /** Stopped tasks that were looked at on another of their nodes, and if they are in the way. */
  readonly judged: Map<Task, boolean>;
}

/**
 * The node as if those of its tasks that are in the way had never been stopped, and without an end:
 * when they go on nobody knows.
 */
export function viewWithStopped(node: Node, coming: Coming, at: number): NodeView {
  const view = viewOf(node);
  let { free } = view;
  let running = [...view.running];
  for (const { task, share, yieldedCpus } of node.holding.values()) {
    if (task === null || !task.stops.has('scheduler') || task.ending !== null) continue;
    if (!isInTheWay(task, coming, at)) continue;
    const { index, job } = task;
    const { id: jobId, spec } = job;
    free = subtractResources(free, { ...NO_RESOURCES, cpuCount: yieldedCpus });
    // What of it leaves, as it is about to stop, will be back too.
    running = running.filter((one) => one.jobId !== jobId || one.index !== index);
    const { resources } = share;
    const reservation = spec.reservation ?? null;
    running.push({ jobId, index, resources, startedAt: null, walltimeMs: null, reservation });
  }
  return { ...view, free, running };
}

/** Once for all of its nodes. */
function isInTheWay(task: Task, coming: Coming, at: number): boolean {
  let verdict = coming.judged.get(task);
  if (verdict === undefined) {
    verdict = wouldRunInto(task, coming, at);
    coming.judged.set(task, verdict);
  }
  return verdict;
}

/** Those without time limit, and those that would go on between its times and run into them. */
function wouldRunInto(task: Task, { times, windowsOn }: Coming, at: number): boolean {
  const others = new Set(nodesOf(task).flatMap((name) => windowsOn.get(name) ?? []));
  return outlasts(timeLeft(task, at), times.length === 0 ? [] : [...times, ...others]);
}
