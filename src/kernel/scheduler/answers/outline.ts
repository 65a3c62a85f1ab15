// The cluster as people know it, for answers about what waits.

import type { NodeSize } from '../../model/node-sizes.ts';
import type { Absence } from '../../model/reason.ts';
import type { Resources } from '../../model/resources.ts';
import type { Window } from '../room/lane.ts';

/** Every node of the cluster, also those that get no work. */
export interface NodeOutline {
  readonly name: string;
  readonly total: Resources;
  readonly free: Resources;
  /** Nothing is on it. */
  readonly idle: boolean;
  readonly labels: ReadonlySet<string>;
  /** Largest nodes of a site, one of which must hold a part. Absent: it is one node. */
  readonly sizes?: readonly NodeSize[];
  /** Why some of its gpus may not be given, each in words. Absent: all may. */
  readonly gpusAside?: readonly GpuAside[];
  /** Which of its gpus tasks have, each of them in words. Absent: none is given. */
  readonly gpusGiven?: readonly GpusGiven[];
  /** Null when it gets work. */
  readonly unavailable: Absence | null;
}

/** What answers need besides the snapshot. */
export interface Surroundings {
  readonly nodes: readonly NodeOutline[];
  /** What a window is of, by its id. */
  readonly reservationOf: (id: string) => Pick<Window, 'name' | 'purpose'> | undefined;
}

/** A card that nobody may be given. */
export interface GpuAside {
  readonly number: number;
  readonly words: string;
}

/** What one task has. */
export interface GpusGiven {
  readonly numbers: readonly number[];
  readonly words: string;
}
