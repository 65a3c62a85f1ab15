// Places of wings' things in lists of the kernel.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPlaced } from '../../../../src/kernel/base/placed.ts';

const own = [{ name: 'a' }, { name: 'b' }];
const names = (more: Parameters<typeof withPlaced>[1]) =>
  withPlaced(own, more).map(({ name }) => name);

test('neighbours of one keep their order, before it and after it', () => {
  const more = [
    { name: '1', after: 'a' },
    { name: '2', before: 'b' },
    { name: '3', after: 'a' },
    { name: '4', before: 'a' },
  ];
  assert.deepEqual(names(more), ['4', 'a', '1', '3', '2', 'b']);
});

test('what names no neighbour, or one that is not there, is behind all', () => {
  const more = [{ name: '1' }, { name: '2', after: 'gone' }, { name: '3', before: 'gone' }];
  assert.deepEqual(names(more), ['a', 'b', '1', '2', '3']);
});
