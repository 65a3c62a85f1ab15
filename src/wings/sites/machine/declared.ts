// What the machine's tables of types get from this wing.

import type { SiteHeard } from './heard.ts';
import type { SiteStopsHeard } from './stops.ts';

declare module '../../../kernel/machine/part.ts' {
  interface OwnInputs {
    /** What a gateway has heard of its site, whole. */
    readonly site: { readonly kind: 'site'; readonly heard: SiteHeard };
    /** Which nodes of its site a gateway has stopped. */
    readonly site_stops: { readonly kind: 'site_stops'; readonly heard: SiteStopsHeard };
  }
}
