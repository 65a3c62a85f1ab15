// What of standard input is a file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stdinFile } from '../../../../src/kernel/model/job.ts';

test('two words of standard input stand for no file', () => {
  const files = ['/data/in', './attach', 'attach', '-'].map((stdin) => stdinFile({ stdin }));
  assert.deepEqual([...files, stdinFile({})], ['/data/in', './attach', null, null, null]);
});
