// Connections that become another protocol's: what is handed to whoever takes one over.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Principal } from '../auth/authenticate.ts';
import type { Match } from './router.ts';
import type { Services } from './services.ts';

/** One from somebody who may ask for it, whatever becomes of it. */
export interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
  readonly params: Match['params'];
  readonly principal: Principal;
}

/** Takes the connections of one route over. */
export type Upgrader = (services: Services, upgrade: Upgrade) => void;
