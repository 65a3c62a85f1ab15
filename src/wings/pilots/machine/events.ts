// What happens to fleets of pilots.

import type { FleetSpec } from './facts.ts';

interface OfFleet {
  readonly fleet: string;
}

interface OfLaunch extends OfFleet {
  readonly launch: number;
}

interface OfPilot extends OfLaunch {
  readonly index: number;
}

export type PilotEvent =
  | {
      readonly kind: 'fleet_started';
      readonly fleet: FleetSpec;
      readonly min: number;
      readonly max: number;
      readonly idleMs: number;
    }
  | (OfFleet & {
      readonly kind: 'fleet_scaled';
      readonly min: number;
      readonly max: number;
      readonly idleMs: number;
      readonly by: string;
    })
  | (OfFleet & { readonly kind: 'fleet_stopped'; readonly by: string })
  /** Too many starts in a row failed; `why` is what was said of the last. */
  | (OfFleet & { readonly kind: 'fleet_paused'; readonly why: string })
  | (OfFleet & { readonly kind: 'fleet_removed' })
  | (OfLaunch & { readonly kind: 'pilots_asked'; readonly count: number })
  | (OfLaunch & { readonly kind: 'pilots_submitted'; readonly site: string })
  | (OfLaunch & { readonly kind: 'pilots_refused'; readonly why: string })
  | (OfPilot & {
      readonly kind: 'pilot_seen';
      readonly isRunning: boolean;
      readonly endsAt: number | null;
    })
  | (OfPilot & { readonly kind: 'pilot_up' })
  | (OfPilot & { readonly kind: 'pilot_leaving'; readonly why: string })
  /** `failed`: no node ever came of it, and nobody wanted it to end. */
  | (OfPilot & { readonly kind: 'pilot_gone'; readonly why: string; readonly failed: boolean });
