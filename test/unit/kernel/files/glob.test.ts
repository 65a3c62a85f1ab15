// Patterns on relative paths, against what they should take and against a slow matcher.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Glob,
  matchesGlob,
  matchesGlobs,
  parseGlob,
} from '../../../../src/kernel/files/glob.ts';

function glob(text: string): Glob {
  const read = parseGlob(text);
  assert.ok(read.ok, text);
  return read.value;
}

const TABLE: readonly (readonly [pattern: string, takes: string[], leaves: string[]])[] = [
  ['**', ['a', 'a/b', 'a/b/.c'], []],
  ['*.vtk', ['a.vtk', 'x/y/a.vtk', '.vtk'], ['a.vtk2', 'a/vtk']],
  ['/*.vtk', ['a.vtk'], ['x/a.vtk']],
  ['out/*.csv', ['out/a.csv'], ['out/x/a.csv', 'x/out/a.csv', 'a.csv']],
  ['out/**/*.csv', ['out/a.csv', 'out/x/y/a.csv'], ['a.csv']],
  ['out', ['out', 'out/a', 'x/out/b/c'], ['outer', 'x/outer/a']],
  ['out/', ['out', 'out/a'], ['outer']],
  ['a/**', ['a/b', 'a/b/c'], ['b', 'ab']],
  ['**/b/**/d', ['b/d', 'a/b/c/d', 'a/b/c/c/d/e'], ['a/d', 'b/c']],
  ['?.txt', ['a.txt', 'é.txt', '😀.txt'], ['ab.txt', '.txt']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
  ['[!a-c]x', ['dx'], ['ax']],
  ['[]x]', [']', 'x'], ['[']],
  ['a[-z]', ['a-', 'az'], ['ab']],
  ['{a,b{c,d}}.txt', ['a.txt', 'bc.txt', 'bd.txt'], ['b.txt', 'abc.txt']],
  ['a{,b}', ['a', 'ab'], ['b']],
  ['\\*\\{', ['*{'], ['a{', '*']],
  ['a\\\\', ['a\\'], ['a']],
  ['a*b*c', ['abc', 'axxbxxc', 'abcbc'], ['abcd', 'ac']],
];

for (const [pattern, takes, leaves] of TABLE) {
  test(`${pattern} takes ${takes[0]}`, () => {
    for (const path of takes) assert.equal(matchesGlob(glob(pattern), path), true, path);
    for (const path of leaves) assert.equal(matchesGlob(glob(pattern), path), false, path);
  });
}

const BAD: readonly (readonly [pattern: string, said: RegExp])[] = [
  ['', /is empty/],
  ['!', /is empty/],
  ['a[b', /\[ without its \]/],
  ['a{b', /\{ without its \}/],
  ['../x', /'\.' or '\.\.'/],
  ['a//b', /nothing between two slashes/],
  ['[z-a]', /range z-a backwards/],
  ['a\\', /ends with a '\\'/],
  ['{a,b}/c\\\\\\', /ends with a '\\'/],
  ['{a,b}'.repeat(10), /more than 1000 alternatives/],
  ['a'.repeat(5000), /longer than 4096/],
];

for (const [pattern, said] of BAD) {
  test(`${pattern.slice(0, 20)} is refused`, () => {
    const read = parseGlob(pattern);
    assert.ok(!read.ok);
    assert.match(read.error, said);
  });
}

test('in a list the last pattern that matches decides', () => {
  const list = (...texts: string[]) => texts.map(glob);
  const outputs = list('**', '!*.tmp', 'keep.tmp');
  const taken = ['a', 'a.tmp', 'x/keep.tmp', 'dir.tmp/b'].filter((path) =>
    matchesGlobs(outputs, path),
  );
  assert.deepEqual(taken, ['a', 'x/keep.tmp']);
  assert.equal(matchesGlobs(list('!*.tmp'), 'a'), true, 'it begins with everything');
  assert.equal(matchesGlobs(list('*.csv'), 'a'), false);
  assert.equal(matchesGlobs([], 'a'), true);
});

test('a pattern made to be slow is not', () => {
  const path = `${'a'.repeat(2000)}`;
  assert.equal(matchesGlob(glob(`${'a*'.repeat(500)}b`), path), false);
  assert.equal(matchesGlob(glob(`${'**/a/'.repeat(200)}b`), 'a/'.repeat(400).slice(0, -1)), false);
});

/** Wild cards as they are defined, whatever it costs. */
function slowly(pattern: readonly string[], path: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return path.length === 0;
  if (head === '**')
    return path.length === 0
      ? slowly(rest, path)
      : slowly(rest, path) || slowly(pattern, path.slice(1));
  return path.length > 0 && slowlyName(head, path[0] as string) && slowly(rest, path.slice(1));
}

function slowlyName(pattern: string, name: string): boolean {
  if (pattern === '') return name === '';
  if (pattern[0] === '*')
    return (
      slowlyName(pattern.slice(1), name) || (name !== '' && slowlyName(pattern, name.slice(1)))
    );
  return (
    name !== '' &&
    (pattern[0] === '?' || pattern[0] === name[0]) &&
    slowlyName(pattern.slice(1), name.slice(1))
  );
}

test('the quick matcher says what the slow one says', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 });
  const part = fc.oneof(
    fc.constant('**'),
    fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 5 }),
  );
  const paths = fc.array(name, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), paths, (pattern, path) => {
      const folders = path.map((_, at) => path.slice(0, at + 1));
      // `a**b` within a name is `a*b`, which the slow matcher takes for the same.
      const expected = folders.some((one) => slowly(pattern, one));
      assert.equal(matchesGlob(glob(`/${pattern.join('/')}`), path.join('/')), expected);
    }),
    { numRuns: 2000 },
  );
});
