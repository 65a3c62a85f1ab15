// When recurring reservations come: cron in a time zone, over changes of the clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatInstant } from '../../../../src/kernel/base/instant.ts';
import { viewInFull } from '../../../../src/kernel/head/answers/reservation-view.ts';
import {
  extendReservations,
  nextStarts,
  occurrencesOf,
} from '../../../../src/kernel/head/recurrence.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Reservation } from '../../../../src/kernel/model/reservation.ts';
import { OPERATOR, TestHead } from '../../../support/controller.ts';
import { reserve } from '../../../support/reservations.ts';

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
  // What the clock jumps over comes when it has jumped.
  ['30 2 * * *', BERLIN, '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z']],
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

test('[R8] what is no recurrence is refused with what is wrong and the forms', () => {
  const rows: [cron: string, zone: string, words: RegExp][] = [
    ['every day', BERLIN, /^cron 'every day': five fields are expected, not 2; write minute, hour/],
    ['@daily', BERLIN, /five fields are expected, not 1/],
    ['0 0 9 * * *', BERLIN, /five fields are expected, not 6/],
    ['61 * * * *', BERLIN, /^cron '61 \* \* \* \*': Invalid value for minute: 61; write minute/],
    ['0 9 * * 1-8', BERLIN, /weekday/],
    ['0 9 * * *', 'Mars/Base', /^'Mars\/Base' is no time zone; write one such as Europe/],
    ['0 9 * * *', 'berlin', /Did you mean 'Europe\/Berlin'\?$/],
    ['0 9 * * *', 'Europe/Brelin', /Did you mean 'Europe\/Berlin'\?$/],
  ];
  for (const [cron, zone, words] of rows) {
    const found = nextStarts({ cron, zone }, 0, 1);
    assert.ok(!found.ok, cron);
    assert.match(found.error.details['what'] ?? '', words);
  }
});

const DAY = 24 * 3_600_000;

/** A head whose node n1 is set aside for an hour every day at nine. */
function everyDay(): { head: TestHead; known: () => Reservation; look: () => void } {
  const head = new TestHead();
  head.connect('n1');
  const recurrence = occurrencesOf({ cron: '0 9 * * *', zone: 'UTC' }, head.at);
  assert.ok(recurrence.ok);
  head.command(reserve({ recurrence: recurrence.value }), OPERATOR);
  const engine = {
    state: head.state,
    now: () => head.at,
    perform: (...[input]: Parameters<Parameters<typeof extendReservations>[0]['perform']>) =>
      void head.perform(input),
  };
  const look = (): void => {
    head.tick();
    extendReservations(engine);
  };
  return { head, known: () => head.state.reservations.get('r1') as Reservation, look };
}

test('[R8] what is in the way for a day costs the one occurrence that it meets', () => {
  const { head, known, look } = everyDay();
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'new fan' });
  head.at += DAY;
  for (let n = 0; n < 5; n += 1) look();
  assert.deepEqual([known().slots.length, known().skipped.length], [6, 1]);
  const written = head.records.length;
  look();
  assert.equal(head.records.length, written, 'and nothing is written while nothing changes');
  head.command({ kind: 'undrain_node', node: 'n1' as NodeName });
  const [skipped] = known().skipped;
  look();
  assert.deepEqual(known().skipped, [], 'it has room again');
  assert.equal(known().slots.at(-1)?.from, skipped?.from);
  head.at += DAY;
  look();
  assert.equal(known().slots.length, 7);
  head.finish();
});

test('[R8] an occurrence whose obstacle goes while it lasts gets the rest of its time', () => {
  const { head, known, look } = everyDay();
  const hour = 3_600_000;
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'new fan' });
  head.at += DAY;
  look();
  const from = known().skipped[0]?.from ?? 0;
  head.at = from + hour / 2;
  look();
  const view = viewInFull(head.state, known(), head.at);
  assert.equal(view.skipped[0]?.triedUntil, from + hour);
  assert.match(view.skipped[0]?.because ?? '', /No reservation can hold/);
  head.command({ kind: 'undrain_node', node: 'n1' as NodeName });
  look();
  const now = known().slots.find((slot) => slot.from === from + hour / 2);
  assert.deepEqual([now?.until, now?.begun], [from + hour, true]);
  head.at = from + hour;
  look();
  assert.ok(known().slots.every((slot) => slot.from > from));
  head.finish();
});

test('[R8] an occurrence that never found room is told as skipped, and not tried for ever', () => {
  const { head, known, look } = everyDay();
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'new fan' });
  head.at += DAY;
  look();
  const from = known().skipped[0]?.from ?? 0;
  head.at = from + 3_600_000;
  head.command({ kind: 'undrain_node', node: 'n1' as NodeName });
  look();
  assert.equal(known().skipped.find((one) => one.from === from)?.from, from);
  const view = viewInFull(head.state, known(), head.at);
  assert.equal(view.skipped.find((one) => one.from === from)?.triedUntil, undefined);
  head.finish();
});

test('[R8] a head that was away for a year places what comes at its first look', () => {
  const { head, known, look } = everyDay();
  head.at += 365 * DAY;
  look();
  assert.equal(known().slots.length, 7);
  assert.ok((known().slots[0]?.from ?? 0) > head.at - 3_600_000);
  assert.deepEqual(known().skipped, []);
});
