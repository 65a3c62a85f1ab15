// Figures of pools and their calls for Prometheus.

import { gauge, type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';

export function measureCalls({ calls, clock }: Services, scrape: Scrape): void {
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
