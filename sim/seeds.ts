// Seeds that once broke something, each with the sentence of what it broke; and for every canary
// the seed that finds it fastest. Both hold only as long as the same seed draws the same run.

import { PLAIN, type Weather } from './weather.ts';

/** Run first, always, under the weather that broke it. */
export const PINNED: readonly {
  readonly seed: number;
  readonly broke: string;
  readonly weather?: Partial<Weather>;
}[] = [
  {
    seed: 4,
    weather: PLAIN,
    broke: 'the same hello twice on one connection opened two sessions',
  },
  {
    seed: 44,
    weather: PLAIN,
    broke:
      'a node whose hello waited for the disk was found silent and stayed unreachable for ever',
  },
  {
    seed: 84,
    weather: PLAIN,
    broke: 'a walltime reached but for a fraction of a millisecond was asked in a circle',
  },
  {
    seed: 124,
    weather: PLAIN,
    broke: 'a work directory was made after its epoch had ended, and nobody removed it',
  },
  {
    seed: 1347,
    weather: PLAIN,
    broke: 'a part that had ended came back as a stale claim, and the end of its task was a bug',
  },
  {
    seed: 3069,
    weather: { reloadMs: null },
    broke: 'under fifo nobody looked again when fair share had brought another task to the front',
  },
  {
    seed: 20064,
    weather: { reloadMs: null },
    broke: 'who merely asked what would be planned changed whom the next cycle sent away',
  },
  {
    seed: 20078,
    weather: { reloadMs: null },
    broke: 'cycles cut short in a search that nobody had to leave for followed each other for ever',
  },
  {
    seed: 20261121139,
    broke: 'a stopped task that was told to end ran on cpus that were given to others',
  },
];

/** By the name of the canary. */
export const CANARY_SEEDS: Readonly<Record<string, number>> = {
  'report-not-idempotent': 9,
  'submit-not-deduplicated': 24,
  'hello-not-deduplicated': 10,
  'apply-reads-clock': 7,
  'launch-sent-once': 20,
  'session-not-checked': 14,
  'effects-before-sync': 14,
  'acknowledged-before-journal': 15,
  'freed-at-cancel': 1,
  'epoch-not-checked': 10,
  'half-a-step': 15,
  'held-ignored': 14,
  'drain-ignored': 23,
  'dependency-ignored': 18,
  'no-lease': 288,
  'launcher-without-lease': 225,
  'no-walltime': 12,
  'report-sent-once': 4,
  'journal-after-start': 24,
  'never-kill': 6,
  'ends-wait': 4,
  'output-cut': 20,
  'spool-not-emptied': 1,
  'limit-ignored': 2,
  'promise-broken': 11,
  'preempts-for-nothing': 1,
  'reservation-ignored': 1,
  'runs-into-maintenance': 1,
  'reload-unrecorded': 1,
  'maintenance-forgotten': 1,
};
