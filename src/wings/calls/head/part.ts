// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import { gauge, type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { poolEvents } from '../api/events.ts';
import type { poolRoutes } from '../api/pools.ts';
import type { PoolEvent } from '../machine/pool.ts';
import { Calls } from './calls.ts';
import { ownedPool } from './find-pool.ts';
import * as pools from './handlers.ts';
import { openCalls, openWork } from './upgrades.ts';
import { findWorker } from './workers.ts';

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly calls: Calls;
  }
}

const events: EventsPart<PoolEvent> = { kinds: poolEvents };

const handlers: HandlersOf<typeof poolRoutes> = {
  startPool: pools.startPool,
  listPools: pools.listPools,
  getPool: pools.getPool,
  scalePool: pools.scalePool,
  stopPool: pools.stopPool,
  poolCalls: pools.poolCalls,
};

export const head: HeadPart = {
  handlers,
  events,
  upgrades: { openCalls, openWork },
  owners: {
    pool: (state, of) => ownedPool(state, { ...of, kind: 'pool' }),
    calls: (state, of) => ownedPool(state, { ...of, kind: 'calls' }),
  },
  findWorker,
  measure: measureCalls,
  explain({ calls }, { record }) {
    const waits = calls.of(record.id)?.waits ?? null;
    return waits === null ? null : `Of its calls some wait: ${waits}.`;
  },
  openListeners({ engine, clock, chance }) {
    const calls = new Calls({ engine, clock, chance });
    const unsubscribe = engine.onCommitted(({ events }) => calls.committed(events));
    return {
      services: { calls },
      close() {
        unsubscribe();
        calls.stop();
      },
    };
  },
};

/** Figures of pools and their calls for Prometheus. */
function measureCalls({ calls, clock }: Services, scrape: Scrape): void {
  const now = { waiting: 0, running: 0 };
  const lines = { clients: 0, workers: 0 };
  for (const { router } of calls.pools.values()) {
    const { waiting, busy, clients, workers } = router.view(clock.monotonic());
    now.waiting += waiting;
    now.running += busy;
    lines.clients += clients.length;
    lines.workers += workers.length;
  }
  value(scrape, 'weft_pools', 'Pools that live.', calls.pools.size);
  gauge(scrape, 'weft_calls', 'Calls that are not over, by state.', 'state', now);
  gauge(scrape, 'weft_call_peers', 'Programs and workers of pools.', 'kind', lines);
  const { done, failed } = calls.ended;
  value(scrape, 'weft_calls_done_total', 'Calls that have ended.', done);
  value(scrape, 'weft_calls_failed_total', 'Of these: without a value, and not cancelled.', failed);
}
