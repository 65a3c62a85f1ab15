// For whom a task was stopped to make room, and what it waits for.

import type { JobId } from '../../model/ids.ts';
import type { WindowReason } from '../../model/reason.ts';
import { windowReason } from '../../scheduler/answers/explain-windows.ts';
import { askOfStopped, unheeded } from '../../scheduler/cycle/resume.ts';
import { byNode } from '../../scheduler/room/windows.ts';
import type { Task } from '../jobs/facts.ts';
import type { Node } from '../nodes/facts.ts';
import { maintenanceOn } from '../nodes/in-maintenance.ts';
import type { State } from '../state.ts';
import { poolOf, stoppedOf } from '../tasks/stopped.ts';
import { preemptedFor } from '../tasks/stops.ts';
import { allWindows, namedWindow } from '../windows.ts';

export interface StoppedTask {
  /** For whom, as the stop says it: what follows `it was`. */
  readonly preempted: string;
  readonly waitsFor:
    | { readonly kind: 'maintenance'; readonly node: string }
    | { readonly kind: 'cpus'; readonly cpuCount: number; readonly nodes: readonly ShortNode[] }
    /** There is room but for what is set aside. */
    | { readonly kind: 'window'; readonly reason: WindowReason }
    | { readonly kind: 'its_turn' };
}

export interface ShortNode {
  readonly name: string;
  readonly cpusFree: number;
  /** Jobs that have the others. */
  readonly jobs: readonly JobId[];
}

/** Returns null when it was not stopped to make room, or is being ended. */
export function stoppedTask(state: State, task: Task, now: number): StoppedTask | null {
  const preempted = preemptedFor(task);
  if (preempted === null || task.ending !== null) return null;
  return { preempted, waitsFor: waitsFor(state, task, now) };
}

function waitsFor(state: State, task: Task, now: number): StoppedTask['waitsFor'] {
  const stopped = stoppedOf(task, now);
  const { cpuCount } = stopped;
  const nodes = stopped.nodes.flatMap((name) => state.nodes.get(name) ?? []);
  const closed = nodes.find((node) => maintenanceOn(state, node.name) !== null);
  if (closed !== undefined) return { kind: 'maintenance', node: closed.name };
  const short = nodes.filter((node) => node.free.cpuCount < cpuCount);
  if (short.length > 0) return { kind: 'cpus', cpuCount, nodes: short.map(shortNode) };
  const windowsOn = byNode(allWindows(state));
  const mine = new Set(stopped.nodes.flatMap((name) => windowsOn.get(name) ?? []));
  const passed = new Set(unheeded(stopped, [...mine], now));
  const windows = [...mine].filter((window) => !passed.has(window));
  const pool = poolOf(state, stopped.nodes);
  const reason = windowReason(askOfStopped(stopped), { pool, windows, now }, (id) =>
    namedWindow(state, id),
  );
  return reason === null ? { kind: 'its_turn' } : { kind: 'window', reason };
}

function shortNode({ name, free, holding }: Node): ShortNode {
  const jobs = new Set<JobId>();
  for (const { task, share, yieldedCpus } of holding.values()) {
    if (task !== null && share.resources.cpuCount > yieldedCpus) jobs.add(task.job.id);
  }
  return { name, cpusFree: free.cpuCount, jobs: [...jobs] };
}
