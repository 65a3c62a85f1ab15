// Rates of calls, as the page draws and writes them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateBetween, rateWords } from '../../../../src/kernel/page/pure/rate.ts';

test('a rate is of the time between two answers, however late one comes', () => {
  assert.equal(rateBetween(null, { at: 0, done: 5 }), null);
  assert.equal(rateBetween({ at: 0, done: 100 }, { at: 2000, done: 300 }), 100);
  // An answer that took twice as long has twice as many.
  assert.equal(rateBetween({ at: 2000, done: 300 }, { at: 6000, done: 700 }), 100);
  assert.equal(rateBetween({ at: 2000, done: 300 }, { at: 2000, done: 300 }), null);
  assert.equal(rateBetween({ at: 0, done: 300 }, { at: 2000, done: 2 }), null, 'a new head');
});

test('a slow rate is not written as none', () => {
  const rows = [
    [0, '0'],
    [0.016, '0.02'],
    [0.4, '0.4'],
    [3.21, '3.2'],
    [48.4, '48'],
    [1210.3, '1,210'],
  ] as const;
  for (const [rate, words] of rows) assert.equal(rateWords(rate), words);
});
