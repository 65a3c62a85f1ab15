// Waits between pools: a program in a call of one pool that waits for calls of another keeps a
// worker from the first. Nobody lends one across pools, so such waits may close a circle: that is
// told (C18).

import type { JobId } from '../../../../kernel/model/ids.ts';
import { isOver } from './phases.ts';
import type { Session, Worker } from './records.ts';
import type { RouterState } from './state.ts';

/**
 * Wait of a pool with calls that wait, whose workers are all in calls that wait for other pools'
 * calls.
 */
export interface PoolWait {
  readonly workers: number;
  /** Whose calls they wait for, in the order of their numbers. */
  readonly pools: readonly JobId[];
  /** None of them goes on before another one has. */
  readonly isCircle: boolean;
}

export type Routers = ReadonlyMap<JobId, RouterState>;

/** What the program of a worker's call waits for in another pool. */
interface Need {
  readonly pool: JobId;
  readonly state: RouterState;
  /** For a worker to be free. */
  readonly waits: boolean;
  /** Those that have calls of it. */
  readonly workers: ReadonlySet<Worker>;
}

type Needs = ReadonlyMap<Worker, readonly Need[]>;

/** Pools that wait so, by number. */
export function waitsBetween(routers: Routers): Map<JobId, PoolWait> {
  const needs = needsOf(routers);
  const found = new Map<JobId, PoolWait>();
  if (needs.size === 0) return found;
  const stuck = stuckOf(needs);
  for (const [id, state] of routers) {
    const workers = [...state.workers.values()];
    const areKept = workers.length > 0 && workers.every((worker) => needs.has(worker));
    if (state.waiting === 0 || !areKept) continue;
    const isCircle = workers.every((worker) => stuck.has(worker));
    const pools = new Set(workers.flatMap((worker) => needs.get(worker) ?? []).map(poolOf));
    const sorted = [...pools].sort((a, b) => a - b);
    found.set(id, { workers: workers.length, pools: sorted, isCircle });
  }
  return found;
}

function poolOf({ pool }: Need): JobId {
  return pool;
}

function needsOf(routers: Routers): Needs {
  const needs = new Map<Worker, Need[]>();
  for (const [pool, state] of routers) {
    for (const session of state.sessions.values()) {
      if (session.within === null) continue;
      const { within } = session;
      const worker = routers.get(within.pool)?.workers.get(within.worker);
      const need = worker === undefined ? null : needOf(pool, state, session);
      if (worker === undefined || need === null) continue;
      const known = needs.get(worker);
      if (known === undefined) needs.set(worker, [need]);
      else known.push(need);
    }
  }
  return needs;
}

/** Null when it has no payload to wait for. */
function needOf(pool: JobId, state: RouterState, { calls }: Session): Need | null {
  let waits = false;
  const workers = new Set<Worker>();
  for (const call of calls.values()) {
    if (isOver(call) || call.isDropped) continue;
    if (call.worker === null) waits = true;
    else workers.add(call.worker);
  }
  return waits || workers.size > 0 ? { pool, state, waits, workers } : null;
}

/**
 * Workers that go on only when another of them does: all are taken for such, and those are taken
 * out that have nothing to wait for in the rest, until none is left to take out.
 */
function stuckOf(needs: Needs): ReadonlySet<Worker> {
  const stuck = new Set(needs.keys());
  for (let before = -1; before !== stuck.size; ) {
    before = stuck.size;
    for (const worker of stuck) {
      const waits = (needs.get(worker) ?? []).some((need) => isStuck(need, stuck));
      if (!waits) stuck.delete(worker);
    }
  }
  return stuck;
}

function isStuck({ state, waits, workers }: Need, stuck: ReadonlySet<Worker>): boolean {
  for (const worker of workers) if (stuck.has(worker)) return true;
  if (!waits || state.workers.size === 0) return false;
  for (const worker of state.workers.values()) if (!stuck.has(worker)) return false;
  return true;
}
