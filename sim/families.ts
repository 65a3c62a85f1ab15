// All families of runs: those about our own nodes, about calls of functions, about other clusters,
// and about heads whose disk is put back.

import { CALL_CANARIES } from './calls/canaries.ts';
import { PINNED_CALLS } from './calls/seeds.ts';
import { runCallSeed } from './calls/world.ts';
import { CANARIES } from './canaries.ts';
import type { Canary } from './canary.ts';
import { type Family, familyOf, type RunRequest } from './family.ts';
import { FOREIGN_CANARIES } from './foreign/canaries.ts';
import { FOREIGN_CANARY_SEEDS, PINNED_FOREIGN } from './foreign/seeds.ts';
import { runForeignSeed } from './foreign/world.ts';
import { RESTORED_CANARIES } from './restored/canary.ts';
import { PINNED_RESTORED, RESTORED_CANARY_SEEDS } from './restored/seeds.ts';
import { runRestored } from './restored/world.ts';
import { runSeed } from './run.ts';
import { CANARY_SEEDS, PINNED } from './seeds.ts';
import { SLOW, type Weather } from './weather.ts';

export const OWN: Family = familyOf({
  name: 'seed',
  word: 'seed',
  run: runSeed,
  sizes: ['jobs', 'messages'],
  pinned: PINNED,
  canaries: CANARIES,
  canarySeeds: CANARY_SEEDS,
  measures: { freshSeeds: 500, freshMs: 8000, twiceSeeds: 10, canarySeedsMax: 200 },
});

export const CALLS: Family = familyOf({
  name: 'calls',
  word: 'call',
  run: runCallSeed,
  sizes: ['calls'],
  pinned: PINNED_CALLS,
  canaries: CALL_CANARIES,
  canarySeeds: {},
  measures: { freshSeeds: 300, freshMs: 5000, twiceSeeds: 5, canarySeedsMax: 100 },
});

export const FOREIGN: Family = familyOf({
  name: 'foreign',
  word: 'site',
  run: runForeignSeed,
  sizes: ['jobs'],
  pinned: PINNED_FOREIGN,
  canaries: FOREIGN_CANARIES,
  canarySeeds: FOREIGN_CANARY_SEEDS,
  measures: { freshSeeds: 300, freshMs: 8000, twiceSeeds: 3, canarySeedsMax: 60 },
});

export const RESTORED: Family = familyOf({
  name: 'restored',
  word: 'restore',
  run: runRestored,
  sizes: ['lost'],
  pinned: PINNED_RESTORED,
  canaries: RESTORED_CANARIES,
  canarySeeds: RESTORED_CANARY_SEEDS,
  measures: { freshSeeds: 100, freshMs: 7000, twiceSeeds: 2, canarySeedsMax: 60 },
});

/**
 * The same storm over months: a run takes a minute or two of a processor, so that no check has it.
 */
export const MONTHS: Family = familyOf({
  name: 'months',
  word: 'month',
  run: (wish: RunRequest<Canary, Weather>) =>
    runSeed({ ...wish, weather: { ...SLOW, ...wish.weather } }),
  sizes: ['jobs', 'messages'],
  pinned: [],
  canaries: [],
  canarySeeds: {},
  measures: { freshSeeds: 0, freshMs: 0, twiceSeeds: 0, canarySeedsMax: 0 },
});

export const FAMILIES: readonly Family[] = [OWN, CALLS, FOREIGN, RESTORED];
