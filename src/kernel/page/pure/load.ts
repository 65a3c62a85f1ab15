// The load as the head saw it, as curves: where no head looked there is a gap.

import type { LoadPoint, LoadReply } from '../../api/cluster.ts';

export interface LoadCurves {
  /** Ms since 1970. */
  readonly times: readonly number[];
  readonly cpus: readonly (number | null)[];
  readonly waiting: readonly (number | null)[];
}

/** What the head says of this moment. */
type Present = Pick<LoadPoint, 'cpus' | 'waiting'>;

/** Steps of the head, and the present as last point; without one they end with the last step. */
export function curvesOf({ points, now }: LoadReply, present: Present | null): LoadCurves {
  const times: number[] = [];
  const cpus: (number | null)[] = [];
  const waiting: (number | null)[] = [];
  const add = (at: number, seen: Present | null): void => {
    times.push(at);
    cpus.push(seen?.cpus ?? null);
    waiting.push(seen?.waiting ?? null);
  };
  let end = Number.POSITIVE_INFINITY;
  for (const point of points) {
    if (point.at > end) add(end, null);
    add(point.at, point);
    end = point.at + point.ms;
  }
  const last = points.at(-1);
  if (last === undefined) return { times, cpus, waiting };
  add(Math.max(now, last.at + 1), present ?? last);
  return { times, cpus, waiting };
}
