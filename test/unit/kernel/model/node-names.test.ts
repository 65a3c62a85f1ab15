// Lists of nodes as people write them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNodeNames } from '../../../../src/kernel/model/node-names.ts';

const LISTS: readonly (readonly [text: string, names: string])[] = [
  ['n1', 'n1'],
  ['n1, n2', 'n1 n2'],
  ['n[2-4]', 'n2 n3 n4'],
  ['n1,n[3,5-6],x', 'n1 n3 n5 n6 x'],
  ['n[08-10]', 'n08 n09 n10'],
  ['r[1-2]c[1-2]', 'r1c1 r1c2 r2c1 r2c2'],
  ['n1,n1,n[1-2]', 'n1 n2'],
  ['', ''],
];

for (const [text, names] of LISTS) {
  test(`'${text}' names '${names}'`, () => {
    const parsed = parseNodeNames(text);
    assert.deepEqual(parsed, { ok: true, value: names.split(' ').filter(Boolean) });
  });
}

for (const text of ['n[4-2]', 'n[', 'n[a-b]', 'n[]', 'n[1-99999999]', 'n[1-200]m[1-200]', 'a b']) {
  test(`'${text}' is no list of nodes`, () => {
    assert.equal(parseNodeNames(text).ok, false);
  });
}
