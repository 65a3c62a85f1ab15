// What is said of a task that was stopped to make room: for whom, and what it waits for.

import type { Task } from '../../core/controller/jobs/facts.ts';
import { maintenanceOn } from '../../core/controller/maintenance/presence.ts';
import type { Node } from '../../core/controller/nodes/facts.ts';
import type { State } from '../../core/controller/state.ts';
import { poolOf, stoppedOf } from '../../core/controller/tasks/stopped.ts';
import { preemptedFor } from '../../core/controller/tasks/stops.ts';
import { formatTaskId } from '../../core/model/ids.ts';
import { describeWindows } from '../../core/scheduler/answers/explain-windows.ts';
import { askOfStopped, unheeded } from '../../core/scheduler/cycle/resume.ts';
import { byNode, windowsOf } from '../../core/scheduler/room/windows.ts';

/** Lists of nodes and of jobs end here. */
const NAMES_MAX = 3;

/** Null: it was not stopped to make room, or is being ended. */
export function stoppedNotice(state: State, task: Task, now: number): string | null {
  const { job, ending } = task;
  const preempted = preemptedFor(task);
  if (preempted === null || ending !== null) return null;
  const isOne = job.spec.array === null;
  const who = isOne ? 'It' : `Task ${formatTaskId(job.id, task.index)}`;
  return `${who} was ${preempted}. ${waitsFor(state, task, now)}`;
}

function waitsFor(state: State, task: Task, now: number): string {
  const stopped = stoppedOf(task, now);
  const nodes = stopped.nodes.flatMap((name) => state.nodes.get(name) ?? []);
  const closed = nodes.find((node) => maintenanceOn(state, node.name) !== null);
  if (closed !== undefined) return `It resumes after the maintenance of ${closed.name}.`;
  const short = nodes.filter((node) => node.free.cpuCount < stopped.cpuCount);
  if (short.length > 0) {
    const words = short.slice(0, NAMES_MAX).map((node) => lackOf(node, stopped.cpuCount));
    return `It resumes when ${words.join(' and ')}${short.length > NAMES_MAX ? ' and so on' : ''}.`;
  }
  const windowsOn = byNode(windowsOf(state.reservations.values()));
  const mine = new Set(stopped.nodes.flatMap((name) => windowsOn.get(name) ?? []));
  const passed = new Set(unheeded(stopped, [...mine], now));
  const windows = [...mine].filter((window) => !passed.has(window));
  const pool = poolOf(state, stopped.nodes);
  const reserved = describeWindows(askOfStopped(stopped), { pool, windows, now }, (id) =>
    state.reservations.get(id),
  );
  if (reserved !== null) return `There is room, but ${reserved.words}.`;
  return 'There is room: it resumes unless a higher tier takes that.';
}

/** `n1 has 2 cpus free, 0 are, job 3 has the others`. */
function lackOf({ name, free, holding }: Node, cpuCount: number): string {
  const jobs = new Set<number>();
  for (const { task, share, yieldedCpus } of holding.values()) {
    if (task !== null && share.resources.cpuCount > yieldedCpus) jobs.add(task.job.id);
  }
  const some = [...jobs].slice(0, NAMES_MAX).join(', ');
  const users =
    jobs.size === 0
      ? ''
      : `; used by ${jobs.size === 1 ? 'job' : 'jobs'} ${some}${jobs.size > NAMES_MAX ? ', …' : ''}`;
  return `${name} has ${cpuCount} cpus free (${free.cpuCount} now${users})`;
}
