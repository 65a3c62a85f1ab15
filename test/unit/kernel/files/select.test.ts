// Which files of an archive are taken: each option by itself and together, on relative paths.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Choosable,
  readSelection,
  type SelectionOptions,
  select,
} from '../../../../src/kernel/files/select.ts';

const ENTRIES: readonly Choosable[] = [
  { path: 'fields', kind: 'folder', size: 4096 },
  { path: 'fields/flow.vtk', kind: 'file', size: 1000 },
  { path: 'fields/flow.VTK', kind: 'file', size: 500 },
  { path: 'fields/latest.vtk', kind: 'link', size: 8 },
  { path: 'empty', kind: 'folder', size: 4096 },
  { path: 'stats.csv', kind: 'file', size: 10 },
  { path: 'archive.txt', kind: 'file', size: 0 },
];

function chosen(wish: SelectionOptions): string[] {
  const selection = readSelection(wish);
  assert.ok(selection.ok, 'the patterns are right');
  return select(ENTRIES, selection.value).taken.map(({ path }) => path);
}

test('without a wish all of it, with sizes of files only', () => {
  const selection = readSelection({});
  assert.ok(selection.ok);
  const { taken, left, takenBytes, leftBytes } = select(ENTRIES, selection.value);
  assert.equal(taken.length, ENTRIES.length);
  assert.deepEqual([left.length, takenBytes, leftBytes], [0, 1510, 0]);
});

const TABLE: readonly (readonly [SelectionOptions, ...taken: string[]])[] = [
  [{ include: ['\\.csv$'] }, 'fields', 'empty', 'stats.csv'],
  [{ include: ['\\.csv$', '^archive'], skipFolders: true }, 'stats.csv', 'archive.txt'],
  [{ exclude: ['\\.vtk$'], skipFolders: true }, ...['fields/flow.VTK', 'stats.csv', 'archive.txt']],
  [{ exclude: ['(?i)\\.vtk$'], skipFolders: true }, 'stats.csv', 'archive.txt'],
  [{ include: ['flow'], exclude: ['VTK'], skipFolders: true }, 'fields/flow.vtk'],
  [
    { globs: ['*.csv', 'fields/*', '!*.VTK'], skipFolders: true },
    ...[...['fields/flow.vtk', 'fields/latest.vtk', 'stats.csv']],
  ],
  [
    { globs: ['fields'], include: ['flow'], skipFolders: true },
    'fields/flow.vtk',
    'fields/flow.VTK',
  ],
  // The place of the archive is no part of the path: only a file of this name is taken.
  [{ include: ['archive'], skipFolders: true }, 'archive.txt'],
  [{ include: ['nothing'] }, 'fields', 'empty'],
];

for (const [wish, ...taken] of TABLE) {
  test(`${JSON.stringify(wish)} takes ${taken.join(', ')}`, () => {
    assert.deepEqual(chosen(wish), taken);
  });
}

test('what is left is counted', () => {
  const selection = readSelection({ include: ['csv'], skipFolders: true });
  assert.ok(selection.ok);
  const { takenBytes, leftBytes, left } = select(ENTRIES, selection.value);
  assert.deepEqual([takenBytes, leftBytes, left.length], [10, 1500, 6]);
});

test('every wrong pattern is named at once', () => {
  const read = readSelection({ include: ['a(', 'b'], exclude: ['[z-a]'], globs: ['x[', '..'] });
  assert.ok(!read.ok);
  assert.deepEqual(read.error, [
    "--include 'a(': unterminated group",
    "--exclude '[z-a]': range out of order in character class",
    "--glob 'x[': the pattern 'x[' has a [ without its ]",
    "--glob '..': the pattern '..' has '.' or '..' in it; it is about paths inside the folder",
  ]);
});
