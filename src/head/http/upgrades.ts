// Connections that become another protocol's: who takes them over, by route.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpgradeName } from '../../api/routes.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { AgentSockets } from './agent-socket.ts';

/** One from somebody who may ask for it, whatever becomes of it. */
interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
  readonly principal: Principal;
}

export type Upgrades = { readonly [N in UpgradeName]: (upgrade: Upgrade) => void };

export function createUpgrades(agents: AgentSockets): Upgrades {
  return {
    agent({ incoming, socket, head, principal }) {
      if (principal.kind === 'node') agents.upgrade(incoming, socket, head, principal.name);
    },
  };
}
