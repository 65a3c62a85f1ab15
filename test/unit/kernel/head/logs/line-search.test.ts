// Lines of output that have a text, however the bytes come.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FoundLine, LineSearch } from '../../../../../src/kernel/head/logs/line-search.ts';

function search(text: string, output: string, sizes: number, max = 1000) {
  const bytes = Buffer.from(output);
  const looking = new LineSearch(text, { from: 0, max });
  for (let at = 0; at < bytes.length && !looking.isFull; at += sizes)
    looking.push(bytes.subarray(at, at + sizes));
  if (!looking.isFull) looking.end();
  return looking;
}

const texts = (lines: readonly FoundLine[]) => lines.map(({ text }) => text.trimEnd());

test('[D15] lines are found in whatever pieces they come, each at its place', () => {
  const lines = fc.array(fc.constantFrom('an error', 'ERROR: disk', 'fine', '', 'Ölstand'));
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 40 }), (all, sizes) => {
      const output = all.map((line) => `${line}\n`).join('');
      const found = search('error', output, sizes).found;
      assert.deepEqual(
        texts(found),
        all.filter((line) => /error/i.test(line)),
      );
      const bytes = Buffer.from(output);
      for (const { at, text } of found)
        assert.equal(bytes.subarray(at, at + text.length).toString(), text);
    }),
  );
});

test('[D15] colours between letters do no harm, and no alphabet is left out', () => {
  const red = 'an \u001b[31mer\u001b[0mror here\n';
  assert.deepEqual(search('error', red, 1000).found.length, 1);
  assert.deepEqual(texts(search('ÖLSTAND', 'kein\nder ölstand\n', 3).found), ['der ölstand']);
});

test('[D15] a line without an end is found, and looked at again when more has come', () => {
  const looking = search('error', 'fine\nan error without an end', 7);
  assert.deepEqual([texts(looking.found), looking.next], [['an error without an end'], 5]);
});

test('[D15] a line of megabytes is found, shown in part, and kept in no memory', () => {
  const output = `${'x'.repeat(3_000_000)}needle${'y'.repeat(100_000)}\nthe needle\n`;
  const { found } = search('needle', output, 100_000);
  assert.ok(found.length >= 2);
  assert.ok(found.every(({ text }) => text.length <= 4096));
  assert.equal(found.at(-1)?.text, 'the needle');
  assert.ok((found[0]?.cut ?? 0) > 0);
});

test('[D15] enough is enough: the next search goes on behind the last line found', () => {
  const output = 'hit 1\nno\nhit 2\nhit 3\n';
  const first = search('hit', output, 1000, 2);
  assert.deepEqual([texts(first.found), first.next], [['hit 1', 'hit 2'], 15]);
});
