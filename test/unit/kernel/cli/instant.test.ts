// Instants and windows as people write them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantBefore } from '../../../../src/kernel/cli/jobs/instant-before.ts';
import { parseInstant } from '../../../../src/kernel/cli/submit/instant.ts';
import { readWindow } from '../../../../src/kernel/cli/submit/read.ts';

test('instants are spans from now, times of day and dates in local time', () => {
  const now = new Date(2026, 0, 31, 12, 0, 0).getTime();
  const read = (text: string) => {
    const parsed = parseInstant(text, now);
    return parsed.ok ? parsed.value : null;
  };
  assert.equal(read('+2h'), now + 7_200_000);
  assert.equal(read('12:30'), now + 1_800_000);
  assert.equal(read('11:00'), new Date(2026, 1, 1, 11, 0, 0).getTime());
  assert.equal(read('2026-02-03'), new Date(2026, 1, 3).getTime());
  assert.equal(read('2026-02-03 04:05'), new Date(2026, 1, 3, 4, 5).getTime());
  assert.equal(read('tomorrow'), new Date(2026, 1, 1).getTime());
  assert.equal(read('2026-02-03T04:05Z'), Date.UTC(2026, 1, 3, 4, 5));
  const written = new Date(now + 7).toISOString();
  assert.equal(read(written), now + 7);
  assert.equal(read(written.replace('Z', '')), Date.parse(written.replace(/[.].*/, '')));
  assert.equal(read('2028-02-29'), new Date(2028, 1, 29).getTime());
  const bads = ['soon', '25:00', '+2', '2026-13-01', '3', '2026-02-30', '2026-02-29 10:00'];
  for (const bad of [...bads, '2026-01-01T24:30', '2026-01-01T10:00+99:00'])
    assert.equal(read(bad), null, bad);
});

test('a time of day that was, is that of the day before also where a clock was set', (context) => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'Europe/Berlin';
  context.after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
  context.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-10-25T12:00+01:00') });
  assert.equal(instantBefore('--since', '18:30'), Date.parse('2026-10-24T18:30+02:00'));
  assert.equal(instantBefore('--since', '11:30'), Date.parse('2026-10-25T11:30+01:00'));
});

test('a time that the clock jumps over is refused, in words that say why', (context) => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'Europe/Berlin';
  context.after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
  const gap = parseInstant('2027-03-28T02:30', 0);
  assert.match(gap.ok ? '' : gap.error, /does not exist: the clock is put forward then in Europe/);
  const tonight = parseInstant('2:30', Date.parse('2027-03-27T20:00:00Z'));
  assert.match(tonight.ok ? '' : tonight.error, /does not exist/);
  const after = parseInstant('2027-03-28 03:30', 0);
  assert.deepEqual(after, { ok: true, value: Date.parse('2027-03-28T01:30:00Z') });
});

test('a window is two instants, its end, or how long from now', () => {
  const now = new Date(2026, 0, 31, 18, 0).getTime();
  const hours = (text: string): number[] => {
    const { notBefore, until } = readWindow('--within', text, now);
    return [notBefore, until].map((at) => (at - now) / 3_600_000);
  };
  const rows: [string, number[]][] = [
    ['12h', [0, 12]],
    ['22:00', [0, 4]],
    ['22:00..06:00', [4, 12]],
    ['+2h..+4h', [2, 4]],
    ['+2h..tomorrow', [2, 6]],
  ];
  for (const [text, expected] of rows) assert.deepEqual(hours(text), expected, text);
  for (const bad of ['a..b..c', '22:00..', '..', '+4h..+3h', '2h..3h', 'soon']) {
    assert.throws(() => hours(bad), /^Failure: --within: /, bad);
  }
});
