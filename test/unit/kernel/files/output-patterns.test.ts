// Patterns of what is kept that could never keep anything.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGlob } from '../../../../src/kernel/files/glob.ts';
import { keepsNothing, parseOutputPattern } from '../../../../src/kernel/files/output-patterns.ts';

test('a path of the whole machine is refused with what is meant, one of the top is not', () => {
  for (const pattern of ['/etc/**', '!/etc/x/', '/a/b']) {
    const read = parseOutputPattern(pattern);
    assert.ok(!read.ok, pattern);
    assert.match(
      read.error,
      /begins with '\/', but is about what lies in the directory of the job/,
    );
    assert.ok(read.error.endsWith(`write '${pattern.replace('/', '')}'`), read.error);
  }
  for (const pattern of ['/*.csv', '/out/', 'etc/**', '!/x', '**']) {
    assert.ok(parseOutputPattern(pattern).ok, pattern);
  }
  assert.ok(!parseOutputPattern('a[').ok);
});

const LISTS: readonly (readonly [patterns: string[], culprit: string | null])[] = [
  [['a', '!**'], '!**'],
  [['!*'], '!*'],
  [['**', '!/*', '!x'], '!/*'],
  [['a', '!**/*/**'], '!**/*/**'],
  [['**', '!*', 'keep'], null],
  [['!*.tmp'], null],
  [['**', '!*/*'], null],
  [[], null],
];

for (const [patterns, culprit] of LISTS) {
  test(`${JSON.stringify(patterns)} keeps ${culprit === null ? 'something' : 'nothing'}`, () => {
    const globs = patterns.map((text) => {
      const read = parseGlob(text);
      assert.ok(read.ok);
      return read.value;
    });
    const said = keepsNothing(globs);
    assert.equal(said === null, culprit === null, String(said));
    if (culprit !== null) assert.ok(said?.startsWith(`the pattern '${culprit}' takes everything`));
  });
}
