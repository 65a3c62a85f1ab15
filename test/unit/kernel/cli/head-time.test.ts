// The clock of whoever reads is not that of the head.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';
import { jobView } from './views.ts';

const HOUR = 3_600_000;
const HALF_MINUTE = 30_000;

for (const aheadMs of [24 * HOUR, -24 * HOUR, 0]) {
  test(`[H4] a job that has run for an hour shows so, the head ${aheadMs} ms ahead`, async () => {
    const now = Date.now() + aheadMs;
    // The header has whole seconds, and what is asked takes some time.
    const startedAt = now - HOUR - HALF_MINUTE;
    const job = jobView({ state: 'running', startedAt, runStartedAt: startedAt });
    await using head = await FakeHead.start({
      'GET /v1/jobs': () => ({
        json: { jobs: [job], next: null },
        headers: { date: new Date(now).toUTCString() },
      }),
    });
    const { out, error } = await head.weft('jobs');
    assert.equal(error, '');
    assert.match(out, / 1h(?: |$)/m);
  });
}
