// What is shown of a file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREVIEW_MAX, previewOf, thumbnailsOf } from '../../../../src/kernel/page/pure/preview.ts';

test('a picture is shown whole or not at all, anything else as the begin of a text', () => {
  const kind = (path: string, size: number) => previewOf({ path, size });
  assert.deepEqual(kind('out/a.PNG', 4 * 1_048_576), { kind: 'picture', type: 'image/png' });
  assert.deepEqual(kind('out/a.png', 4 * 1_048_576 + 1), { kind: 'too_large' });
  assert.deepEqual(kind('a.svg', 1e9), { kind: 'text', isCut: true });
  assert.deepEqual(kind('a.txt', PREVIEW_MAX), { kind: 'text', isCut: false });
  assert.deepEqual(kind('a.constructor', 5), { kind: 'text', isCut: false });
});

test('small pictures are shown unasked, the first few of them', () => {
  const files = ['a.png', 'b.txt', 'c.jpg', 'large.png'].map((path) => ({
    path,
    size: path === 'large.png' ? 2_000_000 : 9,
  }));
  assert.deepEqual(
    thumbnailsOf(files).map(({ path }) => path),
    ['a.png', 'c.jpg'],
  );
  const many = Array.from({ length: 500 }, (_, at) => ({ path: `${at}.png`, size: 9 }));
  assert.equal(thumbnailsOf(many).length, 24);
});
