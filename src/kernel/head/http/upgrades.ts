// Connections that become another protocol's: who takes them over, by route.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CALL_CLIENTS_MAX } from '../../../wings/calls/head/calls.ts';
import { ownedPool } from '../../../wings/calls/head/find-pool.ts';
import { findInside } from '../../../wings/calls/head/workers.ts';
import type { UpgradeName } from '../../api/routes.ts';
import { refuse } from '../../model/errors.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { AgentSockets } from './agent-socket.ts';
import { refuseAndClose } from './last-words.ts';
import type { Match } from './router.ts';
import type { Services } from './services.ts';

/** One from somebody who may ask for it, whatever becomes of it. */
interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
  readonly params: Match['params'];
  readonly principal: Principal;
}

export type Upgrades = { readonly [N in UpgradeName]: (upgrade: Upgrade) => void };

export function createUpgrades(
  agents: AgentSockets,
  services: Pick<Services, 'engine' | 'calls'>,
): Upgrades {
  return {
    agent({ incoming, socket, head, principal }) {
      if (principal.kind === 'node') agents.upgrade(incoming, socket, head, principal.name);
    },
    openCalls: (upgrade) => openCalls(services, upgrade),
    openWork: (upgrade) => openWork(services, upgrade),
  };
}

type CallServices = Pick<Services, 'engine' | 'calls'>;

function openCalls({ engine, calls }: CallServices, upgrade: Upgrade): void {
  const { principal, params, socket } = upgrade;
  if (principal.kind !== 'user') return;
  const { id = '' } = params;
  const owned = ownedPool(engine.state, { id, actor: principal.actor, kind: 'calls' });
  if (!owned.ok) return refuseAndClose(socket, owned.error);
  const pool = calls.of(owned.value.id);
  if (pool === undefined) return refuseAndClose(socket, refuse('pool.not_found', { pool: id }));
  if (pool.clients >= CALL_CLIENTS_MAX) {
    const details = { pool: id, count: String(pool.clients) };
    return refuseAndClose(socket, refuse('pool.too_many_clients', details));
  }
  const inside = findInside(engine.state, owned.value.id, upgrade.incoming.headers);
  calls.openClient(pool, upgrade, inside);
}

/** For its own pool alone, and not while that is being stopped. */
function openWork({ calls }: CallServices, upgrade: Upgrade): void {
  const { principal, params, socket } = upgrade;
  if (principal.kind !== 'worker') return;
  const { worker } = principal;
  const { id = '' } = params;
  const pool = String(worker.jobId) === id ? calls.of(worker.jobId) : undefined;
  if (pool === undefined) return refuseAndClose(socket, refuse('pool.not_found', { pool: id }));
  calls.openWorker(pool, worker, upgrade);
}
