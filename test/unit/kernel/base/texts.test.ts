// Durations and sizes as people write them, and back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseDuration } from '../../../../src/kernel/base/duration.ts';
import { formatInstant } from '../../../../src/kernel/base/instant.ts';
import { plural } from '../../../../src/kernel/base/plural.ts';
import { asClause, asSentence } from '../../../../src/kernel/base/sentence.ts';
import { formatSize, parseSize } from '../../../../src/kernel/base/size.ts';
import { utf8Length } from '../../../../src/kernel/base/utf8.ts';
import { isWhole } from '../../../../src/kernel/base/whole.ts';
import { formatRefusal, refuse } from '../../../../src/kernel/model/errors.ts';

const DURATIONS: readonly [string, number][] = [
  ['500ms', 500],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
  ['1w', 604_800_000],
  ['01:30:00', 5_400_000],
  ['2-12:00', 216_000_000],
  ['2-12:00:00', 216_000_000],
  [' 5s ', 5_000],
  ['0s', 0],
];

for (const [text, ms] of DURATIONS) {
  test(`the duration '${text}' is ${ms} ms`, () => {
    assert.deepEqual(parseDuration(text), { ok: true, value: ms });
  });
}

const NO_DURATIONS = [
  '',
  '5',
  'h',
  '-5s',
  '5 s',
  '1:60',
  '1:00:60',
  '1::2',
  '5x',
  '1e3s',
  '200000d',
];

for (const text of NO_DURATIONS) {
  test(`'${text}' is no duration, and the words say it`, () => {
    const read = parseDuration(text);
    assert.ok(!read.ok);
    assert.ok(read.error.includes(`'${text}'`));
  });
}

test('what Slurm reads as minutes and a clock as hours is refused with both readings', () => {
  for (const [text, slurm, clock] of [
    ['1:30', '1m30s', '1h30m'],
    ['10:00', '10m', '10h'],
    ['90:00', '1h30m', '3d18h'],
  ]) {
    const error = `'${text}' may mean ${slurm}, as Slurm has it, or ${clock}; write one of these`;
    assert.deepEqual(parseDuration(text as string), { ok: false, error });
  }
});

test('a printed duration reads as the same number of milliseconds', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), fc.nat(1400), (ms, days) => {
      const whole = ms + days * 86_400_000;
      assert.deepEqual(parseDuration(formatDuration(whole)), { ok: true, value: whole });
    }),
  );
});

const SIZES: readonly [string, number][] = [
  ['1048576', 1_048_576],
  ['512M', 512 * 2 ** 20],
  ['512m', 512 * 2 ** 20],
  ['4GiB', 4 * 2 ** 30],
  ['4gib', 4 * 2 ** 30],
  ['100MB', 100_000_000],
  ['1.5K', 1536],
  ['2 T', 2 * 2 ** 40],
  ['7B', 7],
  ['1P', 2 ** 50],
];

for (const [text, bytes] of SIZES) {
  test(`the size '${text}' is ${bytes} bytes`, () => {
    assert.deepEqual(parseSize(text), { ok: true, value: bytes });
  });
}

for (const text of ['', 'M', '-1', '1X', '1MM', '0x10', '1,5G', '99999P']) {
  test(`'${text}' is no size`, () => {
    const read = parseSize(text);
    assert.ok(!read.ok && read.error.includes(`'${text}'`));
  });
}

test('a size of whole units prints and reads as the same bytes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1023 }), fc.nat(4), (amount, unit) => {
      const bytes = amount * 1024 ** unit;
      assert.deepEqual(parseSize(formatSize(bytes)), { ok: true, value: bytes });
    }),
  );
});

test('any printed size is within a twentieth of the truth', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 52), (bytes) => {
      const read = parseSize(formatSize(bytes));
      assert.ok(read.ok && Math.abs(read.value - bytes) <= bytes / 20);
    }),
  );
});

test('the length of a text as UTF-8 is what the system counts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(utf8Length(text), Buffer.byteLength(text));
    }),
  );
  assert.equal(utf8Length('\ud800'), 3);
});

test('an instant is written as the system writes it, whatever the year', () => {
  const from = Date.UTC(0, 0, 1);
  fc.assert(
    fc.property(fc.integer({ min: from, max: Date.UTC(9999, 11, 31) }), (at) => {
      assert.equal(formatInstant(at), new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'));
    }),
  );
  assert.equal(formatInstant(Date.UTC(2028, 1, 29, 23, 59, 59, 999)), '2028-02-29T23:59:59Z');
  assert.equal(formatInstant(Date.UTC(2000, 11, 31)), '2000-12-31T00:00:00Z');
});

test('counted things are one, or many with their plural', () => {
  assert.deepEqual(
    [plural(0, 'node'), plural(1, 'node'), plural(2, 'process', 'processes')],
    ['0 nodes', '1 node', '2 processes'],
  );
});

test('a whole number within bounds includes both, and nothing that is no number', () => {
  for (const value of [-1, 0, 3]) assert.ok(isWhole(value, -1, 3), `${value}`);
  for (const value of [-2, 4, 1.5, Number.NaN, Infinity, '1', null, undefined]) {
    assert.ok(!isWhole(value, -1, 3), `${value}`);
  }
});

test('words of others make one sentence with ours, whether or not they end with a full stop', () => {
  const words = ['nothing was accepted', 'nothing was accepted.', 'nothing was accepted. '];
  assert.deepEqual(words.map(asSentence), Array(3).fill('nothing was accepted.'));
  assert.deepEqual(words.map(asClause), Array(3).fill('nothing was accepted'));
  assert.deepEqual(['why?', 'and so on…', '..'].map(asSentence), ['why?', 'and so on…', '..']);
  assert.equal(asClause('below ..'), 'below ..');
  const of = (detail: string) => {
    const what = { what: detail, folder: '..' };
    return formatRefusal(refuse('batch.not_archived', what));
  };
  assert.equal(of('it is full.'), 'Results cannot be kept in ..: it is full.');
  assert.equal(of('it is full'), of('it is full.'));
});
