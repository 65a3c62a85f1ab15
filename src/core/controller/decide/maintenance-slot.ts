// Where in time a maintenance has room: between what else is set aside on its nodes and, if it may
// choose, after the tasks that run there now.

import type { NodeName } from '../../model/ids.ts';
import { endAt } from '../../scheduler/board.ts';
import type { State } from '../state.ts';
import { countsFrom } from '../time-limit.ts';

export interface Span {
  readonly from: number;
  readonly until: number;
}

/** A node that is set aside for another at some instant of a span. */
export interface Taken extends Span {
  readonly node: NodeName;
  /** Name of the reservation. */
  readonly other: string;
}

/** The first of what is in the way; running tasks are not, they are treated at the start. */
export function takenAt(state: State, nodes: readonly NodeName[], span: Span): Taken | null {
  for (const taken of takenOn(state, nodes)) {
    if (taken.from < span.until && span.from < taken.until) return taken;
  }
  return null;
}

/**
 * The first instant from `notBefore` on at which nothing else is set aside for so long, and no task
 * runs that has a time limit: one without would be waited for for ever.
 */
export function earliestSlot(
  state: State,
  nodes: readonly NodeName[],
  { durationMs, notBefore, at }: { durationMs: number; notBefore: number; at: number },
): number {
  let from = Math.max(notBefore, lastEnd(state, nodes, at));
  for (;;) {
    const taken = takenAt(state, nodes, { from, until: from + durationMs });
    if (taken === null) return from;
    from = taken.until;
  }
}

function* takenOn(state: State, nodes: readonly NodeName[]): Generator<Taken> {
  for (const { name, slots } of state.reservations.values()) {
    for (const { from, until, shares } of slots) {
      const node = nodes.find((one) => Object.hasOwn(shares, one));
      if (node !== undefined) yield { node, other: name, from, until };
    }
  }
}

/** When the last of the tasks that run on these nodes is over, by their time limits. */
function lastEnd(state: State, nodes: readonly NodeName[], at: number): number {
  let last = at;
  for (const name of nodes) {
    for (const { task } of state.nodes.get(name)?.holding.values() ?? []) {
      const walltimeMs = task?.job.spec.walltimeMs ?? null;
      if (task === null || walltimeMs === null) continue;
      last = Math.max(last, endAt(countsFrom(task) ?? at, walltimeMs));
    }
  }
  return last;
}
