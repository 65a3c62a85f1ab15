// Seeds about heads whose disk is put back that once broke something, each with the sentence of
// what it broke; and for every canary the seed that finds it fastest.

import type { RestoredWeather } from './weather.ts';

export const PINNED_RESTORED: readonly {
  readonly seed: number;
  readonly broke: string;
  readonly weather: Partial<RestoredWeather>;
}[] = [
  {
    seed: 32,
    weather: {},
    broke: 'a task that a lost record had taken back from a site ended as cancelled there',
  },
];

/** By the name of the canary. */
export const RESTORED_CANARY_SEEDS: Readonly<Record<string, number>> = {
  'unknown-stops-kept': 14,
};
