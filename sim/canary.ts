// What a canary is: a bug planted from outside into one run, to prove that the simulator finds it.

import type { AgentPorts } from '../src/agent/ports.ts';
import type { Session } from '../src/ports/net.ts';
import type { Store } from '../src/ports/store.ts';
import type { Life } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import type { World } from './world.ts';

/** Where a planted bug sits; what is absent stays as it is. */
export interface Planted {
  readonly wrapStore?: (store: Store) => Store;
  readonly wrapSession?: (session: Session, host: HeadHost) => Session;
  readonly wrapPorts?: (ports: AgentPorts, life: Life) => AgentPorts;
  /** Takes out what was changed in shared classes. */
  readonly remove?: () => void;
}

export interface Canary {
  readonly name: string;
  /** What a program with this bug does wrong. */
  readonly sentence: string;
  /** The seed that finds it fastest. */
  readonly seed: number;
  readonly plant: (world: World) => Planted;
}

/** The program as it is. */
export const NO_CANARY: Canary = {
  name: 'none',
  sentence: 'nothing is planted',
  seed: 0,
  plant: () => ({}),
};
