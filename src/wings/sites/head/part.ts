// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { Explained } from '../../../kernel/head/http/services.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { siteRoutes } from '../api/sites.ts';
import { ownIdOf } from '../machine/names.ts';
import { choiceWords } from './brokerage.ts';
import { gatewaysOf } from './gateways.ts';
import { getSite, listSites, pauseSite, resumeSite } from './handlers.ts';

const handlers: HandlersOf<typeof siteRoutes> = { listSites, getSite, pauseSite, resumeSite };

export const head: HeadPart = {
  handlers,
  ownIdOf,
  gateways: gatewaysOf,
  explain: ({ engine }, explained) => choiceOf(engine.state, explained),
};

/** Why it is at its site, when sites were compared for it. */
function choiceOf({ scratch }: State, { record, placed, reply }: Explained): string | null {
  if (record.live === null || placed === undefined) return null;
  const choice = scratch.brokerage.choiceOf(record.live, placed);
  const isPlaced = reply.state !== 'pending' || reply.reason?.kind === 'site';
  return choice === undefined || !isPlaced || reply.state === 'done' ? null : choiceWords(choice);
}
