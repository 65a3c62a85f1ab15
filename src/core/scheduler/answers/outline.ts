// The cluster as people know it, for the words about what waits.

import type { Reservation } from '../../model/reservation.ts';
import type { Resources } from '../../model/resources.ts';

/** Every node of the cluster, also those that get no work, for the words. */
export interface NodeOutline {
  readonly name: string;
  readonly total: Resources;
  readonly free: Resources;
  /** Nothing is on it. */
  readonly idle: boolean;
  readonly labels: ReadonlySet<string>;
  /** Null: it gets work. */
  readonly unavailable: Absence | null;
}

/** Why a node gets no work. */
export interface Absence {
  readonly kind: 'drained' | 'away' | 'faulty' | 'paused';
  /** `drained (disk)`: what follows `it is`. */
  readonly words: string;
}

/** What the words need besides the snapshot. */
export interface Surroundings {
  readonly nodes: readonly NodeOutline[];
  /** A reservation by the id of its windows. */
  readonly reservationOf: (id: string) => Pick<Reservation, 'name' | 'purpose'> | undefined;
}
