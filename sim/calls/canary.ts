// What a canary about calls is: a bug planted from outside into one run.

import type {
  RouterToClient,
  RouterToWorker,
  WorkerToRouter,
} from '../../src/wings/calls/core/messages.ts';
import type { Peer } from '../../src/wings/calls/core/peer.ts';
import type { Router } from '../../src/wings/calls/core/router/router.ts';
import type { RouterOptions } from '../../src/wings/calls/core/router/state.ts';
import type { ClientHost } from './client-host.ts';
import type { CallWeather } from './weather.ts';

/** Where a planted bug sits; what is absent stays as it is. */
export interface PlantedCalls {
  readonly toClient?: (client: ClientHost, messages: readonly RouterToClient[]) => void;
  readonly toWorker?: (peer: Peer<RouterToWorker>) => Peer<RouterToWorker>;
  readonly fromWorker?: (peer: Peer<WorkerToRouter>) => Peer<WorkerToRouter>;
  readonly options?: (options: RouterOptions) => RouterOptions;
  readonly onRouter?: (router: Router) => void;
  readonly beforeGone?: (router: Router, worker: string) => void;
  /** Takes out what was changed in shared classes. */
  readonly remove?: () => void;
}

export interface CallCanary {
  readonly name: string;
  /** What a program with this bug does wrong. */
  readonly sentence: string;
  readonly plant: () => PlantedCalls;
  readonly weather?: Partial<CallWeather>;
}

export const NO_CALL_CANARY: CallCanary = {
  name: 'none',
  sentence: 'nothing is planted',
  plant: () => ({}),
};
