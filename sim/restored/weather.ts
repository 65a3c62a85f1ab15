// The weather of one run about a head whose disk is put back: what people want there besides single
// jobs. Little else goes wrong, and so what is missing in the end is the head's to answer for.

import type { Streams } from '../chance.ts';
import { drawForeignWeather, type ForeignWeather } from '../foreign/weather.ts';

export interface RestoredWeather {
  /** Share of submissions that are arrays, most of them with a running limit. */
  readonly arrays: number;
  /** Mean ms between two reservations, and between two maintenances; null = never. */
  readonly reserveMs: number | null;
  readonly maintMs: number | null;
  /** Mean ms between two ends of a site's gateway, and of an agent; null = never. */
  readonly gatewayCrashMs: number | null;
  readonly agentCrashMs: number | null;
  /** A steered site beside our own nodes; null: there is none. */
  readonly site: ForeignWeather | null;
}

/** What came when the first seeds were pinned is absent. */
export const ALONE: RestoredWeather = {
  arrays: 0,
  reserveMs: null,
  maintMs: null,
  site: null,
  gatewayCrashMs: null,
  agentCrashMs: null,
};

/** How long a node may be silent is as for our own. */
export const BEATS = { nodeTimeoutMs: 5000, heartbeatMs: 1000 } as const;

/** Each field comes from a stream of its own. */
export function drawRestoredWeather(streams: Streams): RestoredWeather {
  return {
    arrays: streams.of('arrays').pick([0, 0.2, 0.5]),
    reserveMs: streams.of('reserveMs').pick([null, 8000, 20_000]),
    maintMs: streams.of('maintMs').pick([null, 10_000, 25_000]),
    gatewayCrashMs: streams.of('gatewayCrashMs').pick([null, 6000, 20_000]),
    agentCrashMs: streams.of('agentCrashMs').pick([null, null, 8000]),
    site: streams.of('site').happens(0.5) ? calmSite(streams.under('site')) : null,
  };
}

function calmSite(streams: Streams): ForeignWeather {
  const drawn = drawForeignWeather(streams);
  // Two nodes: with one, a maintenance of it would leave nothing that its jobs fit.
  return { ...drawn, ...BEATS, mode: 'steer', nodeCount: 2, pollMs: 1000, lies: 0 };
}
