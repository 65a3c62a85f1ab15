// When a waiting task would start if nothing new came and everything took as long as it may: all
// that go before it, stopped tasks too, are planned one by one, as `conservative` does it, and then
// it. Behind what has no time limit that is at `UNKNOWN_END` or later.

import type { NodeName } from '../model/ids.ts';
import {
  FORECAST_LOOKS_MAX,
  FORECAST_SLOT_LOOKS_MAX,
  FORECAST_TASKS_MAX,
  LOOKS_PER_TASK,
} from '../model/limits.ts';
import type { Partition } from '../model/scheduling.ts';
import { askOf } from './ask.ts';
import { Board } from './board.ts';
import { type Candidate, isBefore, Line } from './line.ts';
import { Resumer } from './resume.ts';
import { lineRules, type Snapshot } from './snapshot.ts';

export interface Forecast {
  /**
   * Ms since 1970; from `UNKNOWN_END` on: not before tasks without time limit end. Null: that takes
   * too many looks at nodes.
   */
  readonly at: number | null;
  readonly nodes: readonly NodeName[];
  /**
   * More tasks than this many go before it, too many to plan: it is at the earliest then. Null: all
   * of them are planned.
   */
  readonly unplannedAfter: number | null;
}

/** Null: never, as things are. The target need not be in the queue. Cost: bounded by three limits. */
export function forecast(
  snapshot: Snapshot,
  target: Candidate,
  now: number,
  looksMax = FORECAST_SLOT_LOOKS_MAX,
): Forecast | null {
  const board = new Board({ ...snapshot, now, forecastLooksMax: looksMax });
  const floors = new Floors(now);
  const resumer = new Resumer(board, snapshot);
  const unplannedAfter = planBefore(snapshot, target, { board, floors, resumer });
  resumer.resumeFrom(target.tier);
  const ask = askOf(target.group.shape, target.partition);
  const slot = board.slot(ask, floors.of(target.partition));
  if (slot === null) return board.isSpent ? { at: null, nodes: [], unplannedAfter } : null;
  return { at: slot.at, nodes: slot.lanes.map((lane) => lane.view.name), unplannedAfter };
}

/** What the places are found with. */
interface Tools {
  readonly board: Board;
  readonly floors: Floors;
  readonly resumer: Resumer;
}

/** Gives all that go before the target their place. `Forecast.unplannedAfter`. */
function planBefore(
  snapshot: Snapshot,
  target: Candidate,
  { board, floors, resumer }: Tools,
): number | null {
  const { queue, scheduling, quotas } = snapshot;
  queue.weigh(scheduling.weights);
  const line = new Line(queue.bands, lineRules(snapshot));
  let planned = 0;
  let seen = 0;
  for (let next = line.first; next !== undefined; next = line.first) {
    if (!isBefore(next, target)) return null;
    if (planned >= FORECAST_TASKS_MAX || board.work >= FORECAST_LOOKS_MAX) return seen;
    board.addWork(LOOKS_PER_TASK);
    seen += 1;
    resumer.resumeFrom(next.tier);
    const ask = askOf(next.group.shape, next.partition);
    // Who has used up a quota is not in the way: when others of the same user end, nobody knows.
    const slot =
      (quotas?.full(next) ?? null) !== null ? null : board.slot(ask, floors.of(next.partition));
    if (slot === null) {
      if (board.isSpent) return seen;
      line.drop();
      continue;
    }
    board.promise(ask, slot);
    floors.raise(next.partition, slot.at);
    planned += 1;
    line.advance();
  }
  return null;
}

/** The instant before which nothing more of a partition starts: where nobody passes, by `fifo`. */
class Floors {
  readonly #now: number;
  readonly #floors = new Map<string, number>();

  constructor(now: number) {
    this.#now = now;
  }

  of({ name }: Partition): number {
    return this.#floors.get(name) ?? this.#now;
  }

  raise({ name, policy }: Partition, at: number): void {
    if (policy === 'fifo') this.#floors.set(name, at);
  }
}
