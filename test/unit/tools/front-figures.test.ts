// The table of figures in README.md: marked rows of the results, whole, and none that says less
// than what was measured beside it and when.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withFigures } from '../../../tools/docs/front-figures.ts';
import { ROOT } from '../../../tools/tree.ts';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const BEGIN = '<!-- figures: rows of bench/RESULTS.md with ◆, put here by tools/docs.ts -->';
const page = `# Weft\n\n${BEGIN}\nold\n<!-- end of figures -->\n\nMore.\n`;

/** Results of one row in a table with these columns. */
function results(
  row: string,
  columns = '| what | Weft | beside it | asked | when, load |',
): string {
  return `# Results\n\n${columns}\n|---|---|---|---|---|\n${row}\n`;
}

test('the figures of the front page are the marked rows of the results', () => {
  const front = read('README.md');
  assert.equal(front, withFigures(front, read('bench/RESULTS.md')), 'run tools/docs.ts');
});

test('a marked row is shown whole, and the rest of the front page stays', () => {
  const marked = '| ◆ calls | 9/s | peer 3, 4/s | 5: met | 11-22, 1.8 |';
  const made = withFigures(page, results(`${marked}\n| others | 1/s | | | 11-22 |`));
  const shown = marked.replace('◆ ', '');
  const [before, title, line, ...rest] = made.split('\n').slice(2);
  assert.deepEqual([before, line], [BEGIN, '|---|---|---|---|---|']);
  assert.match(title ?? '', /^\| measured .* load \|$/);
  assert.deepEqual(rest, [shown, '<!-- end of figures -->', '', 'More.', '']);
});

test('a row that lacks its peer, its day, its load or its begin is refused with its line', () => {
  const refused: readonly [string, RegExp][] = [
    ['| ◆ calls | | peer 3/s | | 11-22, 1.8 |', /RESULTS.md:5: the row has no figure/],
    ['| ◆ calls | 9/s | | | 11-22, 1.8 |', /RESULTS.md:5: the row has nothing beside it/],
    ['| ◆ calls | 9/s | peer 3/s | | 11-22 |', /RESULTS.md:5: .* its day and load/],
    ['| ◆ calls | 9/s | peer 3/s | | |', /RESULTS.md:5: .* its day and load/],
    ['| ◆ … at load | 9/s | peer 3/s | | 11-22, 1.8 |', /RESULTS.md:5: .* continues another/],
    ['| ◆ the same | 9/s | peer 3/s | | 11-22, 1.8 |', /RESULTS.md:5: .* continues another/],
    ['| calls | 9/s | peer 3/s | | 11-22, 1.8 |', /no row begins with ◆/],
  ];
  for (const [row, message] of refused)
    assert.throws(() => withFigures(page, results(row)), message, row);
  const row = '| ◆ calls | 9/s | peer 3/s | | 11-22, 1.8 |';
  const columns = '| what | Weft | asked | beside it | when, load |';
  assert.throws(() => withFigures(page, results(row, columns)), /RESULTS.md:5: not in a table of/);
});

test('a front page without the place of its table is refused', () => {
  const row = results('| ◆ calls | 9/s | peer 3/s | | 11-22, 1.8 |');
  assert.throws(() => withFigures('# Weft\n', row), /README.md: exactly one line/);
  assert.throws(() => withFigures(`${page}${page}`, row), /README.md: exactly one line/);
});
