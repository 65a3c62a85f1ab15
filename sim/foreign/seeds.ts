// Seeds about other clusters that once broke something, each with the sentence of what it broke;
// and for every canary the seed that finds it fastest.

import { BEFORE, type ForeignWeather } from './weather.ts';

const FIRST: Partial<ForeignWeather> = { ...BEFORE, maintMs: null };

export const PINNED_FOREIGN: readonly {
  readonly seed: number;
  readonly broke: string;
  readonly weather: Partial<ForeignWeather>;
}[] = [
  {
    seed: 4,
    weather: FIRST,
    broke: 'the folder of a job whose end nobody knows was kept for ever',
  },
  {
    seed: 2,
    weather: FIRST,
    broke: 'users who cancelled their own jobs at a site had its nodes drained',
  },
  {
    seed: 15,
    weather: FIRST,
    broke: 'a held job that ended while its gateway was down waited for ever',
  },
  {
    seed: 29,
    weather: FIRST,
    broke: 'a submission that took long to fail was made again while it was on its way',
  },
  {
    seed: 37,
    weather: FIRST,
    broke: "starts that were due went on beside the site's own scheduler",
  },
  {
    seed: 5029,
    weather: {},
    broke: 'an element whose first start did not take was never started again',
  },
  {
    seed: 5023,
    weather: {},
    broke: 'an array that was held stayed so when each of its elements had been released by itself',
  },
  {
    seed: 8,
    weather: { mode: 'steer', hasTickets: false, arrayMs: 10_000, maintMs: null },
    broke: 'a held array whose site knew of it but did not list it stayed so',
  },
  {
    seed: 5057,
    weather: { wishMs: null },
    broke: 'a node that its operator opened before a program began there was closed again for ever',
  },
  {
    seed: 30087,
    weather: { wishMs: null },
    broke: 'a stop that was made anew after a program had begun was not told, and taken for over',
  },
  {
    seed: 30148,
    weather: { wishMs: null },
    broke:
      'a node that its operator opened while it was being given back was closed again for ever',
  },
  {
    seed: 30191,
    weather: { wishMs: null },
    broke: 'an operator opened a node in the moment in which a gateway did (by the world)',
  },
  {
    seed: 30281,
    weather: {},
    broke: 'an operator opened a node right after a gateway had closed it (by the world)',
  },
  {
    seed: 30312,
    weather: {},
    broke:
      'a node that the next maintenance had was taken for kept by the last one (by the checker)',
  },
  {
    seed: 30251,
    weather: { wishMs: null },
    broke:
      'an operator opened a node before a gateway could see that it had closed it (by the world)',
  },
];

/** By the name of the canary. */
export const FOREIGN_CANARY_SEEDS: Readonly<Record<string, number>> = {
  'absence-is-done': 3,
  'submit-repeated': 2,
  'steered-while-scheduling': 1,
  'head-waits-for-sites': 1,
  'never-given-back': 1,
  'adopted-again': 1,
  'started-in-maintenance': 1,
  'silence-is-done': 1,
  'array-taken-for-one': 1,
  'stops-heeded-late': 8,
  'ticket-for-all': 1,
  'started-anywhere': 1,
};
