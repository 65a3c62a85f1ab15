// Seeds that once broke something, each with the sentence of what it broke; and for every canary
// the seed that finds it fastest. Both hold only as long as what they met is drawn as it was; a new
// stream of chance changes nothing of that.

import { CROWDED, PLAIN, type Weather } from './weather.ts';

/** Run first, always, under the weather that broke it. */
export const PINNED: readonly {
  readonly seed: number;
  readonly broke: string;
  readonly weather?: Partial<Weather>;
}[] = [
  {
    seed: 26,
    weather: PLAIN,
    broke:
      'a node whose hello waited for the disk was found silent and stayed unreachable for ever',
  },
  {
    seed: 3,
    weather: PLAIN,
    broke: 'a walltime reached but for a fraction of a millisecond was asked in a circle',
  },
  {
    seed: 23,
    weather: PLAIN,
    broke: 'a work directory was made after its epoch had ended, and nobody removed it',
  },
  {
    seed: 159,
    weather: PLAIN,
    broke: 'a part that had ended came back as a stale claim, and the end of its task was a bug',
  },
  {
    seed: 67,
    weather: CROWDED,
    broke: 'a stopped task that was told to end ran on cpus that were given to others',
  },
  {
    seed: 20261123050,
    weather: { burstLimits: null, burstSlow: null },
    broke: 'a task ended on a drained node, and the next one that its user may have did not start',
  },
  {
    seed: 20261124006,
    weather: { burstLimits: null, burstSlow: null },
    broke: 'a stopped task that was given up with its node had given cpus up there to nobody',
  },
  {
    seed: 20261124023,
    broke: 'a batch was taken for the one that had its name before it was removed (by the checker)',
  },
  {
    seed: 17,
    weather: { cloneMs: 8000, burstLimits: null, burstSlow: null },
    broke: 'a copied machine kept its own files as the result of a task that ran on its original',
  },
  {
    seed: 71,
    weather: { cloneMs: 8000 },
    broke: 'a retry had to wait for a batch that had been removed before it (by the checker)',
  },
  {
    seed: 40385,
    weather: { burstLimits: null, burstSlow: null },
    broke: 'a pause of a copied machine was never over once its original was the node again',
  },
  {
    seed: 120,
    weather: { cloneMs: 8000 },
    broke:
      'a batch that had ended anew was taken for told by what was told before (by the checker)',
  },
];

/** By the name of the canary. */
export const CANARY_SEEDS: Readonly<Record<string, number>> = {
  'report-not-idempotent': 9,
  'submit-not-deduplicated': 24,
  'hello-not-deduplicated': 3,
  'apply-reads-clock': 7,
  'launch-sent-once': 1,
  'session-not-checked': 22,
  'effects-before-sync': 14,
  'acknowledged-before-journal': 7,
  'freed-at-cancel': 1,
  'epoch-not-checked': 14,
  'half-a-step': 24,
  'held-ignored': 14,
  'late-cancel-forgets': 12,
  'copy-taken-for-reboot': 1,
  'drain-ignored': 23,
  'dependency-ignored': 18,
  'element-ignored': 1,
  'retry-of-all': 42,
  'pause-outlives-deadline': 1,
  'pause-stops-nothing': 1,
  'no-lease': 6,
  'launcher-without-lease': 72,
  'no-walltime': 12,
  'report-sent-once': 4,
  'journal-after-start': 4,
  'never-kill': 6,
  'ends-wait': 47,
  'output-cut': 19,
  'spool-not-emptied': 1,
  'limit-ignored': 2,
  'licences-ignored': 4,
  'gone-cards-billed': 11,
  'any-card-will-do': 3,
  'links-ignored': 3,
  'near-cards-ignored': 5,
  'user-caps-ignored': 3,
  'gpu-limit-ignored': 5,
  'promise-broken': 10,
  'preempts-for-nothing': 8,
  'reservation-ignored': 1,
  'runs-into-maintenance': 1,
  'reload-unrecorded': 1,
  'maintenance-forgotten': 1,
  'half-brought': 20,
  'done-before-kept': 1,
  'swept-while-named': 1,
  'requeued-is-kept': 1,
  'built-twice': 1,
  'build-tried-again': 1,
  'failed-build-forgotten': 1,
  'batch-run-again': 5,
  'told-too-early': 1,
  'told-again': 1,
  'failure-counts-as-told': 1,
  'given-up-at-once': 1,
  'one-told-at-a-time': 2,
  'repairs-without-bound': 1,
  'last-node-repaired': 28,
  'next-begins-at-once': 1,
  'next-for-ever': 1,
  'next-beyond-limit': 5,
  'begun-beyond-limit': 3,
  'recalled-is-back': 4,
  'unheard-next-is-back': 9,
};
