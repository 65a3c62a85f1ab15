// What the search of the documents finds, and in which order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find, type Part } from '../../../../tools/site/find.ts';

const part = (title: string, heading: string, text: string): Part => {
  return { url: `${title}.html`, title, heading, text };
};
const PARTS = [
  part('run', 'weft run', `runs a command. ${'word '.repeat(60)}memory at the end`),
  part('limits', 'Limits of memory', 'a task over its limit ends'),
  part('other', 'Else', 'nothing of it'),
];

test('every word has to be there, in any order and case, and headings count more than text', () => {
  const urls = (query: string) => find(PARTS, query).map(({ part: { url } }) => url);
  assert.deepEqual(urls('memory'), ['limits.html', 'run.html']);
  assert.deepEqual(urls('LIMIT memory'), ['limits.html']);
  assert.deepEqual(urls('limit nowhere'), []);
  assert.deepEqual(urls('   '), []);
});

test('the words around the first find are shown, however far down they are', () => {
  const wordsOf = (query: string): string => {
    const found = find(PARTS, query).find(({ part: { title } }) => title === 'run');
    return found?.words ?? assert.fail('it is not found');
  };
  assert.match(wordsOf('command memory'), /^runs a command/);
  assert.match(wordsOf('memory command'), /^… .*memory at the end$/);
});
