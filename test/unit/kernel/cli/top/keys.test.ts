// Keys as terminals send them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readKeys } from '../../../../../src/kernel/cli/top/keys.ts';

test('letters, arrows of both modes, and control keys have names', () => {
  const { keys, rest } = readKeys('qä\x1b[A\x1bOB\x1b[5~\x1b[Z\r\t\x7f\x03');
  const names = ['q', 'ä', 'up', 'down', 'page-up', 'back-tab', 'enter', 'tab', 'backspace'];
  assert.deepEqual(keys, [...names, 'ctrl-c']);
  assert.equal(rest, '');
});

test('a sequence that comes in two pieces is one key', () => {
  const first = readKeys('j\x1b[');
  assert.deepEqual(first, { keys: ['j'], rest: '\x1b[' });
  assert.deepEqual(readKeys(`${first.rest}6~k`), { keys: ['page-down', 'k'], rest: '' });
  assert.deepEqual(readKeys('\x1b'), { keys: [], rest: '\x1b' });
  assert.deepEqual(readKeys('\x1bx'), { keys: ['escape', 'x'], rest: '' });
});

test('sequences without a name are passed over whole: a mouse types nothing', () => {
  assert.deepEqual(readKeys('\x1b[<0;12;7Mx\x1b[15~\x1b[1;5Ay').keys, ['x', 'y']);
});

test('however the bytes are cut, the keys are the same', () => {
  const typed = fc.array(fc.constantFrom('a', '\x1b[A', '\x1bOF', '\x1b[3~', '\r', 'é', '😀'));
  const property = fc.property(typed, fc.array(fc.nat(4)), (words, cuts) => {
    const text = words.join('');
    const keys: string[] = [];
    let rest = '';
    let at = 0;
    for (const size of [...cuts, text.length]) {
      const piece = [...text].slice(at, at + size).join('');
      at += size;
      const read = readKeys(rest + piece);
      keys.push(...read.keys);
      rest = read.rest;
    }
    assert.deepEqual(keys, readKeys(text).keys);
  });
  fc.assert(property, { numRuns: 300 });
});
