// How many requests each route answered, and in what time. Plain numbers: they are counted with
// every request and read once per scrape.

import type { RouteName } from '../../api/paths.ts';

/** Upper bounds in seconds; long polls fall beyond the last. */
export const DURATION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

export interface RouteCounts {
  readonly byStatus: Map<number, number>;
  /** One per bound, not cumulative, and one more for what is beyond. */
  readonly buckets: number[];
  seconds: number;
}

export class RequestCounts {
  readonly routes = new Map<RouteName | 'unknown', RouteCounts>();

  add(route: RouteName | 'unknown', status: number, seconds: number): void {
    let counts = this.routes.get(route);
    if (counts === undefined) {
      counts = { byStatus: new Map(), buckets: DURATION_BOUNDS.map(() => 0), seconds: 0 };
      counts.buckets.push(0);
      this.routes.set(route, counts);
    }
    counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + 1);
    counts.seconds += seconds;
    let at = 0;
    while (at < DURATION_BOUNDS.length && seconds > (DURATION_BOUNDS[at] as number)) at += 1;
    counts.buckets[at] = (counts.buckets[at] as number) + 1;
  }
}
