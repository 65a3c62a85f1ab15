// Seeds about other clusters that once broke something, each with the sentence of what it broke; and for
// every canary the seed that finds it fastest.

export const PINNED_FOREIGN: readonly { readonly seed: number; readonly broke: string }[] = [
  { seed: 4, broke: 'the folder of a job whose end nobody knows was kept for ever' },
  { seed: 2, broke: 'users who cancelled their own jobs at a site had its nodes drained' },
  { seed: 15, broke: 'a held job that ended while its gateway was down waited for ever' },
  { seed: 29, broke: 'a submission that took long to fail was made again while it was on its way' },
  { seed: 37, broke: "starts that were due went on beside the site's own scheduler" },
];

/** By the name of the canary. */
export const FOREIGN_CANARY_SEEDS: Readonly<Record<string, number>> = {
  'absence-is-done': 2,
  'submit-repeated': 2,
  'steered-while-scheduling': 9,
  'head-waits-for-sites': 1,
  'never-given-back': 1,
};
