// Where the search for a slot looks: nodes that are of use now, and the others as they come free.

import type { NodeName } from '../../model/ids.ts';
import { LOOKS_PER_SEARCH } from '../../model/limits.ts';
import { type Ask, namesOf, wantOf } from './ask.ts';
import type { Lane } from './lane.ts';
import { couldEverHold, holdsNow, type NodePool, type NodeView } from './pool.ts';
import { FOREVER } from './profile.ts';
import type { Candidate, Demand, Field } from './slots.ts';

/** The cluster as one cycle sees it. */
interface Ground {
  readonly pool: NodePool;
  lane(name: NodeName): Lane;
  /** Nodes that could hold a part if they were empty. */
  eligible(ask: Ask): readonly NodeView[];
  /** `Field.isOver`. */
  readonly isSpent: boolean;
  /** `Field.opens`. */
  opens(ask: Ask, at: number): number;
  /** Counts what has been looked at. */
  addWork(looks: number): void;
}

/** What the search looks for. */
export function demandOf({ request, reservation, walltimeMs }: Ask): Demand {
  const durationMs = walltimeMs ?? FOREVER;
  return { want: wantOf(request), reservation, durationMs, nodeCount: request.nodeCount };
}

/**
 * Every node that could ever hold a part, with the first instant at which that is not ruled out.
 * `expelled`: nodes that somebody leaves by this cycle's plan, which the pool does not know.
 */
export function fieldOf(
  ground: Ground,
  ask: Ask,
  from: number,
  expelled: ReadonlySet<NodeName>,
): Field {
  const { pool } = ground;
  const { request, roomKey } = ask;
  const isOver = (): boolean => ground.isSpent;
  const opens = (at: number): number => ground.opens(ask, at);
  const laneOf = (name: NodeName): Lane => {
    ground.addWork(LOOKS_PER_SEARCH);
    return ground.lane(name);
  };
  const candidate = ({ name, order }: NodeView, at: number): Candidate => {
    ground.addWork(1);
    return { at, order, name };
  };
  if (namesOf(ask) !== null) {
    const ready = ground.eligible(ask).map((view) => candidate(view, from));
    return { ready, later: [].values(), laneOf, opens, isOver };
  }
  const ready: Candidate[] = [];
  for (const list of pool.fitting(request, roomKey)) {
    for (const view of list) ready.push(candidate(view, from));
  }
  for (const name of expelled) {
    const view = pool.get(name) as NodeView;
    const isToCome = !holdsNow(view, request) && couldEverHold(view, request);
    if (isToCome) ready.push(candidate(view, from));
  }
  return { ready, later: later(new Set(expelled)), laneOf, opens, isOver };

  /** What this cycle has taken of a node frees nothing earlier than what was there before. */
  function* later(besides: ReadonlySet<NodeName>): Generator<Candidate> {
    for (const { at, view } of pool.later(request, roomKey)) {
      if (!besides.has(view.name)) yield candidate(view, Math.max(at, from));
    }
  }
}
