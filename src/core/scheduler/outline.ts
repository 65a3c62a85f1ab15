// The cluster as people know it, for the words about what waits.

import type { Reservation } from '../model/reservation.ts';
import type { Resources } from '../model/resources.ts';

/** Every node of the cluster, also those that get no work, for the words. */
export interface NodeOutline {
  readonly name: string;
  readonly total: Resources;
  readonly free: Resources;
  /** Nothing is on it. */
  readonly idle: boolean;
  readonly labels: ReadonlySet<string>;
  /** Why it gets no work: drained, unreachable; null when it does. */
  readonly unavailable: string | null;
}

/** What the words need besides the snapshot. */
export interface Surroundings {
  readonly nodes: readonly NodeOutline[];
  /** A reservation by the id of its windows. */
  readonly reservationOf: (id: string) => Pick<Reservation, 'name' | 'purpose'> | undefined;
}
