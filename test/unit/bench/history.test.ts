// Figures over time: what is kept of a run, and what is named as slower.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, entriesOf, readHistory, worseThan } from '../../../bench/history/history.ts';
import { plot } from '../../../bench/history/plot.ts';

const RUN = { at: '2026-11-27T20:30Z', commit: 'c0ffee00', load: 0.4 };

const entry = (median: number, more: Partial<Entry> = {}): Entry => {
  return { ...RUN, peer: 'weft', figure: 'array', unit: 'tasks/s', median, ...more };
};

test('figures are kept, and lines for people and for nobody are not', () => {
  const line = '{"peer":"xargs","figure":"array","unit":"tasks/s","n":1,"median":7,"max":9}';
  const output = `# array: how fast\n${line}\n{"half a li\n{"figure":"array"}\n`;
  const [kept, ...others] = entriesOf(output, RUN);
  assert.deepEqual(kept, entry(7, { peer: 'xargs' }));
  assert.deepEqual(others, []);
  assert.deepEqual(readHistory(`${JSON.stringify(kept)}\n`), [kept]);
  assert.throws(() => readHistory('{}\n'), /line 1 is no figure/);
});

test('what is worse than usual is named, in the direction of its unit', () => {
  const past = [entry(100), entry(104), entry(40), entry(98), entry(102)];
  assert.deepEqual(worseThan(past, [entry(90)]), [], 'within the noise');
  assert.match(worseThan(past, [entry(80)])[0] ?? '', /^array: 80 tasks\/s .*usually 100 /);
  assert.deepEqual(worseThan(past, [entry(200)]), [], 'faster');
  const cpu = (median: number) => entry(median, { figure: 'cpu', unit: 'us/task' });
  assert.equal(worseThan([cpu(100)], [cpu(130)]).length, 1, 'of a cost less is better');
  assert.deepEqual(worseThan([cpu(100)], [cpu(60)]), []);
  assert.deepEqual(worseThan([], [entry(1)]), [], 'the first has nothing before it');
  const peer = entry(1, { peer: 'xargs' });
  assert.deepEqual(worseThan([entry(100, { peer: 'xargs' })], [peer]), [], 'not ours to mend');
});

test('the picture has a curve for each figure of ours, and no script', () => {
  const svg = plot([entry(1), entry(2), entry(3, { figure: 'a<b' }), entry(9, { peer: 'xargs' })]);
  assert.equal(svg.match(/<path /g)?.length, 2);
  assert.match(svg, /a&lt;b/);
  assert.doesNotMatch(svg, /<script/);
});
