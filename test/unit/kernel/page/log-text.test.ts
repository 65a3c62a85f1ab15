// Output as the page shows it: as text, whatever a program writes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINE_MAX, LogReader, plainText } from '../../../../src/kernel/page/pure/log-text.ts';

function read(text: string) {
  const reader = new LogReader();
  const lines = reader.push(text);
  return { lines, rest: reader.rest, texts: lines.map(plainText) };
}

test('colours become looks that last until they are taken back', () => {
  const { lines } = read(
    'a \u001b[31mred\n\u001b[1mbold\u001b[0m x\n\u001b[38;5;200;4mu\u001b[0m\n',
  );
  const pieces = lines.map((line) => line.pieces.map(({ text, look }) => [text, look]));
  assert.deepEqual(pieces, [
    [
      ['a ', ''],
      ['red', 'fg1'],
    ],
    [
      ['bold', 'fg1 bold'],
      [' x', ''],
    ],
    [['u', 'underline']],
  ]);
});

test('other escapes are left out, hidden marks are written out, HTML stays text', () => {
  const hostile = '\u001b]0;title\u0007\u001b[2J<b>x</b>\u202ertl\u0000\u001bPq\u001b\\end\n';
  assert.deepEqual(read(hostile).texts, ['<b>x</b>⟨202e⟩rtl⟨00⟩end']);
  assert.deepEqual(read('\u001b[31\n').texts, ['⟨1b⟩[31']);
  assert.deepEqual(read('10%\r20%\r30%\r\n').texts, ['30%']);
});

test('a line of a megabyte is cut, and one without an end fills no memory', () => {
  const [line] = read(`${'x'.repeat(1_000_000)}\n`).lines;
  assert.equal(plainText(line as never).length, LINE_MAX);
  assert.equal(line?.cut, 1_000_000 - LINE_MAX);
  const reader = new LogReader();
  for (let times = 0; times < 100; times += 1)
    assert.deepEqual(reader.push('y'.repeat(10_000)), []);
  assert.equal(reader.rest?.cut, 1_000_000 - LINE_MAX);
  const [end] = reader.push('\n');
  assert.equal(end?.cut, 1_000_000 - LINE_MAX);
  assert.equal(reader.rest, null);
});

test('a line is the same in whatever pieces it comes', () => {
  const text = 'one \u001b[32mgreen\u001b[0m\ntwo\nthree';
  const whole = read(text);
  const reader = new LogReader();
  const lines = [...text].flatMap((sign) => reader.push(sign));
  assert.deepEqual(lines, whole.lines);
  assert.deepEqual(reader.rest, whole.rest);
});
