// When recurring reservations come: cron in a time zone, over changes of the clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatInstant } from '../../../src/core/base/instant.ts';
import { nextStarts } from '../../../src/head/recurrence.ts';

const BERLIN = 'Europe/Berlin';
const ROWS: [cron: string, zone: string, after: string, starts: string[]][] = [
  // In spring the clock jumps from 2:00 to 3:00 on 2026-03-29, in autumn it goes back on 10-25.
  [
    '0 9 * * *',
    BERLIN,
    '2026-03-27T09:00:00Z',
    ['2026-03-28T08:00:00Z', '2026-03-29T07:00:00Z', '2026-03-30T07:00:00Z'],
  ],
  ['0 9 * * *', BERLIN, '2026-10-24T08:00:00Z', ['2026-10-25T08:00:00Z', '2026-10-26T08:00:00Z']],
  ['30 2 * * *', BERLIN, '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
  ['0 9 * * 1-5', 'UTC', '2026-11-20T09:00:00Z', ['2026-11-23T09:00:00Z']],
  ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00Z']],
  ['0 0 30 2 *', 'UTC', '2026-01-01T00:00:00Z', []],
];

test('[R8] a recurrence keeps its time of day when the clock is changed', () => {
  for (const [cron, zone, after, starts] of ROWS) {
    const found = nextStarts({ cron, zone }, Date.parse(after), Math.max(1, starts.length));
    assert.ok(found.ok, cron);
    assert.deepEqual(found.value.map(formatInstant), starts, `${cron} after ${after}`);
  }
});

test('[R8] what is no recurrence is refused with the forms', () => {
  for (const [cron, zone] of [
    ['every day', BERLIN],
    ['* * *', BERLIN],
    ['0 0 9 * * *', BERLIN],
    ['61 * * * *', BERLIN],
    ['0 9 * * *', 'Mars/Base'],
  ] as const) {
    const found = nextStarts({ cron, zone }, 0, 1);
    assert.ok(!found.ok, cron);
    assert.match(found.error.details['what'] ?? '', /write five fields/);
  }
});
