// What the machine's tables of types get from this wing.

import type { SitePart } from './look.ts';
import type { SiteStopsHeard } from './stops.ts';

declare module '../../../kernel/machine/part.ts' {
  interface OwnInputs {
    /** A part of what a gateway has said of its site. */
    readonly site: { readonly kind: 'site'; readonly part: SitePart };
    /** Which nodes of its site a gateway has stopped. */
    readonly site_stops: { readonly kind: 'site_stops'; readonly heard: SiteStopsHeard };
  }
}
