// What the wing adds to a head.

import { formatDuration } from '../../../kernel/base/duration.ts';
import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { Explained } from '../../../kernel/head/http/services.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Choice, Offer } from '../../../kernel/scheduler/room/brokerage.ts';
import type { siteRoutes } from '../api/sites.ts';
import { ownIdOf } from '../machine/names.ts';
import { gatewaysOf } from './gateways.ts';
import { getSite, listSites, pauseSite, resumeSite } from './handlers.ts';

const handlers: HandlersOf<typeof siteRoutes> = { listSites, getSite, pauseSite, resumeSite };

export const head: HeadPart = {
  handlers,
  ownIdOf,
  gateways: (world) => gatewaysOf(world),
  explain: ({ engine }, explained) => choiceOf(engine.state, explained),
};

/** Why it is at its site, when sites were compared for it. */
function choiceOf({ scratch }: State, { record, placed, reply }: Explained): string | null {
  if (record.live === null || placed === undefined) return null;
  const choice = scratch.brokerage.choiceOf(record.live, placed);
  const isPlaced = reply.state !== 'pending' || reply.reason?.kind === 'site';
  return choice === undefined || !isPlaced || reply.state === 'done' ? null : choiceWords(choice);
}

// Why a task is at the site where it is, in words.

const RULES: Readonly<Record<Choice['rule'], string>> = {
  least_wait: 'it was to wait least there',
  cheapest: 'it is the cheapest with room',
  near_data: 'its input files have been there',
};
/** Words for a site whose wait is not known. */
const UNKNOWN: Readonly<Record<NonNullable<Offer['unknown']>, string>> = {
  unread: 'queue not read yet',
  silent: 'does not answer',
};

/**
 * `Its site was chosen because it is the cheapest with room: hpc (price 1, no wait) before sge
 * (…).`
 */
export function choiceWords({ rule, offers }: Choice): string {
  const [best, ...others] = offers;
  if (best === undefined) return '';
  const why = whyBest(rule, best);
  const rest = others.map((offer) => offerWords(rule, offer)).join(', ');
  const before = rest === '' ? ', the only one with room' : ` before ${rest}`;
  return `Its site was chosen because ${why}: ${offerWords(rule, best)}${before}.`;
}

function whyBest(rule: Choice['rule'], best: Offer): string {
  if (best.waitMs === Number.POSITIVE_INFINITY) return 'nothing else has room';
  return rule === 'near_data' && !best.hasData ? noDataWords(best) : RULES[rule];
}

function noDataWords({ node }: Offer): string {
  return `no site with room had its input files, and ${node} was to start it first`;
}

function offerWords(rule: Choice['rule'], offer: Offer): string {
  const { node, price, hasData } = offer;
  const facts = [
    ...(rule === 'near_data' && hasData ? ['had its inputs'] : []),
    ...(rule === 'cheapest' || price > 0 ? [`price ${price}`] : []),
    waitWords(offer),
  ];
  return `${node} (${facts.join(', ')})`;
}

function waitWords({ waitMs, unknown }: Offer): string {
  if (waitMs === 0) return 'no wait';
  if (unknown !== undefined) return UNKNOWN[unknown];
  if (!Number.isFinite(waitMs)) return 'takes no work';
  // A minute more or less is more than such a reckoning knows.
  return `about ${formatDuration(Math.max(1, Math.round(waitMs / 60_000)) * 60_000)} of wait`;
}
