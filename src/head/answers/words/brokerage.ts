// Why a task is at the site where it is, in words.

import { formatDuration } from '../../../core/base/duration.ts';
import type { Choice, Offer } from '../../../core/scheduler/room/brokerage.ts';

const RULES: Readonly<Record<Choice['rule'], string>> = {
  least_wait: 'it was to wait least there',
  cheapest: 'it is the cheapest with room',
  near_data: 'its input files have been there',
};

/** `Its site was chosen because it is the cheapest with room: hpc (price 1, no wait) before sge (…).` */
export function choiceWords({ rule, offers }: Choice): string {
  const [best, ...others] = offers;
  if (best === undefined) return '';
  const why = rule === 'near_data' && !best.hasData ? noDataWords(best) : RULES[rule];
  const rest = others.map((offer) => offerWords(rule, offer)).join(', ');
  const before = rest === '' ? ', the only one with room' : ` before ${rest}`;
  return `Its site was chosen because ${why}: ${offerWords(rule, best)}${before}.`;
}

function noDataWords({ node }: Offer): string {
  return `no site with room had its input files, and ${node} was to start it first`;
}

function offerWords(rule: Choice['rule'], { node, waitMs, price, hasData }: Offer): string {
  const facts = [
    ...(rule === 'near_data' && hasData ? ['had its inputs'] : []),
    ...(rule === 'cheapest' || price > 0 ? [`price ${price}`] : []),
    waitWords(waitMs),
  ];
  return `${node} (${facts.join(', ')})`;
}

function waitWords(waitMs: number): string {
  if (waitMs === 0) return 'no wait';
  if (!Number.isFinite(waitMs)) return 'takes no work';
  // A minute more or less is more than such a reckoning knows.
  return `about ${formatDuration(Math.max(1, Math.round(waitMs / 60_000)) * 60_000)} of wait`;
}
