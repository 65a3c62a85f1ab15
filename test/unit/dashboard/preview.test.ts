// What is shown of a file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREVIEW_MAX, previewOf } from '../../../dashboard/pure/preview.ts';

test('a picture is shown whole or not at all, anything else as the begin of a text', () => {
  const kind = (path: string, size: number) => previewOf({ path, size });
  assert.deepEqual(kind('out/a.PNG', 4 * 1_048_576), { kind: 'picture', type: 'image/png' });
  assert.deepEqual(kind('out/a.png', 4 * 1_048_576 + 1), { kind: 'too_large' });
  assert.deepEqual(kind('a.svg', 1e9), { kind: 'text', isCut: true });
  assert.deepEqual(kind('a.txt', PREVIEW_MAX), { kind: 'text', isCut: false });
  assert.deepEqual(kind('a.constructor', 5), { kind: 'text', isCut: false });
});
