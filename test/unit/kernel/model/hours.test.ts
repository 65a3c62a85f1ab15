// Hours of the week: what may be written, and which times are within.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hours, isWithin, parseHours } from '../../../../src/kernel/model/hours.ts';

const [SUN, MON, FRI, SAT] = [0, 1, 5, 6];

function hours(text: string): Hours {
  const parsed = parseHours(text);
  assert.ok(parsed.ok, text);
  return parsed.value;
}

function at(text: string, weekday: number, clock: string): boolean {
  const [hour = 0, minute = 0] = clock.split(':').map(Number);
  return isWithin(hours(text), { weekday, minute: hour * 60 + minute });
}

test('[O8] a range of hours begins with its first minute and ends before its last', () => {
  const office = 'Mon-Fri 08:00-18:00';
  assert.equal(at(office, MON, '07:59'), false);
  assert.equal(at(office, MON, '08:00'), true);
  assert.equal(at(office, FRI, '17:59'), true);
  assert.equal(at(office, FRI, '18:00'), false);
  assert.equal(at(office, SAT, '12:00'), false);
  assert.equal(at('Sun 0:00-24:00', SUN, '23:59'), true);
});

test('[O8] a range may go over midnight and over the end of the week, and may hold every day', () => {
  assert.equal(at('Sat 22:00-06:00', SUN, '05:59'), true);
  assert.equal(at('Sat 22:00-06:00', SAT, '05:59'), false);
  assert.equal(at('Fri-Mon 10:00-11:00', SUN, '10:30'), true);
  assert.equal(at('Fri-Mon 10:00-11:00', 3, '10:30'), false);
  assert.equal(at('12:00-13:00', 3, '12:30'), true);
  assert.equal(at('mon 08:00-09:00, sat 10:00-11:00', SAT, '10:00'), true);
});

test('[O8] what is no range of hours is refused with the part that is wrong', () => {
  const cases: [string, RegExp][] = [
    ['', /^'' is no range of hours; write 'Mon-Fri 08:00-18:00'/],
    ['Mon-Fri', /^'Mon-Fri' is no range/],
    ['Mon 08:00-09:00, Fir 8:00-9:00', /^'Fir 8:00-9:00' has a day that is not one of Mon/],
    ['Mon 08:00-25:00', /has a time that is not between/],
    ['Mon 24:00-25:00', /has a time that is not between/],
    ['Mon 08:60-09:00', /has a time that is not between/],
    ['Mon 08:00-08:00', /begins when it ends/],
  ];
  for (const [text, expected] of cases) {
    const parsed = parseHours(text);
    assert.ok(!parsed.ok, text);
    assert.match(parsed.error, expected);
  }
});
