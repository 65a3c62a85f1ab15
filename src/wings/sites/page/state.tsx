// How a site is, in a word, and how old that is.

import type { Tone } from '../../../kernel/page/pure/state.ts';
import { spanWords } from '../../../kernel/page/pure/words.ts';
import type { SiteSummary } from '../api/sites.ts';

/** No event tells of sites. */
export const SITES_EVERY_MS = 5000;

const TONES: Readonly<Record<SiteSummary['state'], Tone>> = {
  up: 'good',
  away: 'bad',
  unread: 'bad',
  paused: 'stop',
};

export function SiteState({ state }: { state: SiteSummary['state'] }) {
  return <span class={`state ${TONES[state]}`}>{state}</span>;
}

export function age(ageMs: number | null): string {
  return ageMs === null ? 'never heard' : `heard ${spanWords(ageMs)} ago`;
}
