// What a canary about other clusters is: a bug planted from outside into one run.

import type { Adaptor } from '../../src/wings/sites/adaptors/adaptor.ts';
import type { ForeignSystem } from './system.ts';
import type { ForeignWeather } from './weather.ts';

/** Where a planted bug sits; what is absent stays as it is. */
export interface PlantedForeign {
  readonly wrapAdaptor?: (adaptor: Adaptor) => Adaptor;
  /** Takes out what was changed in shared classes. */
  readonly remove?: () => void;
}

/** What a planted bug can see of the run. */
export interface ForeignCanaryWorld {
  readonly time: { readonly now: number; after(ms: number, then: () => void): unknown };
  /** By the names of their gateways. */
  readonly systems: ReadonlyMap<string, ForeignSystem>;
  readonly isSilent: () => boolean;
}

export interface ForeignCanary {
  readonly name: string;
  /** What a program with this bug does wrong. */
  readonly sentence: string;
  /** Which rule finds it. */
  readonly rule: string;
  readonly plant: (world: ForeignCanaryWorld) => PlantedForeign;
  readonly weather?: Partial<ForeignWeather>;
}

export const NO_FOREIGN_CANARY: ForeignCanary = {
  name: 'none',
  sentence: 'nothing is planted',
  rule: 'none',
  plant: () => ({}),
};
