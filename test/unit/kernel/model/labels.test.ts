// Expressions over labels: what they mean, and where the mistake is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meetsLabel, parseLabels } from '../../../../src/kernel/model/labels.ts';

const MEANINGS: readonly (readonly [expression: string, labels: string, met: boolean])[] = [
  ['gpu', 'gpu', true],
  ['gpu', 'big', false],
  ['gpu & !old', 'gpu', true],
  ['gpu & !old', 'gpu old', false],
  ['gpu & !old | big', 'big old', true],
  ['gpu & (!old | big)', 'gpu old', false],
  ['gpu & (!old | big)', 'gpu old big', true],
  ['!!gpu', 'gpu', true],
  ['!(a|b)', 'c', true],
  ['rack=7&os/arch', 'rack=7 os/arch', true],
  ['!old', '', true],
];

for (const [expression, labels, met] of MEANINGS) {
  test(`[P6] '${expression}' is ${met ? 'met' : 'not met'} by '${labels}'`, () => {
    assert.equal(meetsLabel(new Set(labels.split(' ')), expression), met);
  });
}

const MISTAKES: readonly (readonly [expression: string, column: number, what: string])[] = [
  ['gpu &', 6, 'expected a label at the end'],
  ['gpu & | big', 7, "expected a label, not '|'"],
  ['gpu big', 5, "expected & or | before 'big'"],
  ['a & (b | c', 5, 'this ( is never closed'],
  ['a ; b', 3, "';' stands in no label or expression"],
  ['a)', 2, "expected & or | before ')'"],
  ['', 1, 'expected a label at the end'],
];

for (const [expression, column, what] of MISTAKES) {
  test(`the mistake in '${expression}' is at column ${column}`, () => {
    assert.deepEqual(parseLabels(expression), { ok: false, error: { column, what } });
  });
}

test('a shared directory is a label whatever signs its path has', () => {
  assert.equal(meetsLabel(new Set(['shared=/a&b']), 'shared=/a&b'), true);
  assert.equal(meetsLabel(new Set(['b']), 'shared=/a|b'), false);
});

test('[A32] who shares a directory shares what is in it, and nothing beside it', () => {
  const shares = (root: string, path: string): boolean =>
    meetsLabel(new Set([`shared=${root}`]), `shared=${path}`);
  for (const root of ['/', '/data', '/data/', '/data/ann']) assert.ok(shares(root, '/data/ann'));
  for (const root of ['/data/an', '/data/ann/x', '/datas', 'data', '']) {
    assert.equal(shares(root, '/data/ann'), false, root);
  }
  assert.ok(shares('/', '/'));
  assert.equal(shares('/data', '/'), false);
});

test('an expression that cannot be read is met by no node', () => {
  assert.equal(meetsLabel(new Set(['gpu']), 'gpu &'), false);
});
