// Cycles that are cut short, one after the other, and what may happen between them.

import assert from 'node:assert/strict';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import { NO_RESOURCES, subtractResources } from '../../src/kernel/model/resources.ts';
import { type Plan, plan, type Start } from '../../src/kernel/scheduler/cycle/plan.ts';
import type { Snapshot } from '../../src/kernel/scheduler/cycle/snapshot.ts';
import type { Group, QueueEntry } from '../../src/kernel/scheduler/line/queue.ts';
import type { NodeView } from '../../src/kernel/scheduler/room/pool.ts';

/** Applies the starts like the head does it between two cycles. */
function apply({ pool, queue }: Snapshot, starts: readonly Start[], now: number): void {
  const all = new Map<number, QueueEntry>();
  for (const { entries: list } of queue.groups.values() as Iterable<Group>) {
    for (const entry of list) all.set(entry.jobId, entry);
  }
  for (const { jobId, index, shares } of starts) {
    const entry = all.get(jobId) as QueueEntry;
    const { walltimeMs, request } = entry.shape;
    queue.remove(entry);
    entry.pending.delete(index);
    entry.running += 1;
    if (entry.pending.size > 0) queue.add(entry);
    for (const share of shares) {
      const view = pool.get(share.node) as NodeView;
      const one = { jobId, index, resources: share.resources, reservation: null };
      pool.set({
        ...view,
        free: request.exclusive ? NO_RESOURCES : subtractResources(view.free, share.resources),
        idle: false,
        running: [...view.running, { ...one, startedAt: now, walltimeMs }],
      });
    }
  }
}

/** Cycle after cycle until one is whole. */
export function chain(
  shot: Snapshot,
  looksMax: number,
  between: (made: Plan) => void = () => {},
): Plan[] {
  const plans: Plan[] = [];
  for (let from: Plan['rest'] = null; plans.length === 0 || from !== null; ) {
    assert.ok(plans.length < 200, 'cycles cut short end');
    const made = plan({ ...shot, looksMax, from }, 0);
    apply(shot, made.starts, 0);
    shot.queue.watch();
    plans.push(made);
    from = made.rest;
    between(made);
  }
  return plans;
}

/** What is on the node first has ended. */
export function endOne({ pool }: Pick<Snapshot, 'pool'>, name: string): void {
  const view = pool.get(name as NodeName);
  const [ended, ...running] = view?.running ?? [];
  if (view === undefined || ended === undefined || ended.resources.cpuCount === 0) return;
  pool.set({ ...view, running, free: addBack(view, running), idle: running.length === 0 });
}

function addBack({ total }: NodeView, running: NodeView['running']): NodeView['free'] {
  return [...running].map((one) => one.resources).reduce(subtractResources, total);
}

/** What is on the node first is lost, and waits again where it stood. */
export function loseOne({ pool, queue }: Snapshot, all: readonly QueueEntry[], name: string): void {
  const [lost] = pool.get(name as NodeName)?.running ?? [];
  endOne({ pool }, name);
  const entry = all.find(({ jobId }) => jobId === lost?.jobId);
  if (lost === undefined || entry === undefined || entry.pending.has(lost.index)) return;
  if (queue.groupOf(entry) !== undefined) queue.remove(entry);
  entry.pending.add(lost.index);
  entry.running -= 1;
  queue.add(entry);
}
