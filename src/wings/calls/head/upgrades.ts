// Connections that become those of programs and workers of pools.

import { refuseAndClose } from '../../../kernel/head/http/last-words.ts';
import type { Upgrader } from '../../../kernel/head/http/upgrades.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { CALL_CLIENTS_MAX } from './calls.ts';
import { ownedPool } from './find-pool.ts';
import { findInside } from './workers.ts';

/** For programs that call functions. */
export const openCalls: Upgrader = ({ engine, calls }, upgrade) => {
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
};

/** For its own pool alone, and not while that is being stopped. */
export const openWork: Upgrader = ({ calls }, upgrade) => {
  const { principal, params, socket } = upgrade;
  if (principal.kind !== 'worker') return;
  const { worker } = principal;
  const { id = '' } = params;
  const pool = String(worker.jobId) === id ? calls.of(worker.jobId) : undefined;
  if (pool === undefined) return refuseAndClose(socket, refuse('pool.not_found', { pool: id }));
  calls.openWorker(pool, worker, upgrade);
};
