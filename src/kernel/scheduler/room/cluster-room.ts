// What the cluster as a whole has of counted resources, licences for instance, now and later: one
// more future beside those of the nodes, of which a task takes its amounts once.

import type { JobId } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import {
  addResources,
  NO_RESOURCES,
  type Resources,
  subtractResources,
} from '../../model/resources.ts';
import { type Ask, endAt } from './ask.ts';
import { FOREVER, Profile, UNKNOWN_END, type Want } from './profile.ts';

export type Amounts = NonNullable<ResourceRequest['ofCluster']>;

/** A task that holds some of it. */
export interface ClusterUse {
  readonly jobId: JobId;
  readonly amounts: Amounts;
  /** Null when nobody knows. */
  readonly endsAt: number | null;
}

export interface ClusterStock {
  /** How many there are; what is not named here there are none of. */
  readonly total: Amounts;
  readonly used: () => Iterable<ClusterUse>;
}

export const NO_STOCK: ClusterStock = { total: {}, used: () => [] };

export class ClusterRoom {
  readonly #stock: ClusterStock;
  readonly #now: number;
  /** Made when the first task asks: most clusters count nothing so. */
  #profile: Profile | null = null;

  constructor(stock: ClusterStock, now: number) {
    this.#stock = stock;
    this.#now = now;
  }

  /** Whether there is enough from `at` on for as long as the task may take. */
  fits(ask: Ask, at = this.#now): boolean {
    const want = wantOf(ask);
    return want === null || this.#future.fits(want, at, endAt(at, ask.walltimeMs));
  }

  /** Until when there is enough for it from now on; `at` itself: not even now. */
  fitsUntil(ask: Ask): number {
    const want = wantOf(ask);
    return want === null ? FOREVER : this.#future.fitsUntil(want, this.#now);
  }

  /** The first instant at or after `at` from which on there is enough; `FOREVER`: never. */
  opens(ask: Ask, at: number): number {
    const want = wantOf(ask);
    if (want === null || at >= FOREVER) return at;
    return this.#future.earliest(want, at, ask.walltimeMs ?? FOREVER);
  }

  take(ask: Ask, from: number, to: number): void {
    const want = wantOf(ask);
    if (want !== null) this.#future.take(want.resources, from, to);
  }

  get #future(): Profile {
    this.#profile ??= this.#made();
    return this.#profile;
  }

  #made(): Profile {
    const endings = Array.from(this.#stock.used(), ({ amounts, endsAt }) => {
      return { at: Math.max(endsAt ?? UNKNOWN_END, this.#now + 1), resources: amountOf(amounts) };
    });
    const used = endings.map(({ resources }) => resources).reduce(addResources, NO_RESOURCES);
    // One cpu, because what has none has room for nobody.
    const all = { ...amountOf(this.#stock.total), cpuCount: 1 };
    return new Profile(this.#now, subtractResources(all, used), endings);
  }
}

function amountOf(counted: Amounts): Resources {
  return { ...NO_RESOURCES, counted };
}

function wantOf({ request: { ofCluster } }: Ask): Want | null {
  if (ofCluster === undefined) return null;
  return { resources: amountOf(ofCluster), exclusive: false };
}
