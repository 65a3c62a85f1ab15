// Files put together to one tar file, as tar(1) reads it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { tarEnd, tarHeader, tarPadding } from '../../../dashboard/pure/tar.ts';

test('tar(1) finds every name and content, long names and foreign letters too', () => {
  const files = new Map([
    ['re_100/result.csv', 'x,y\n1,2\n'],
    [`${'deep/'.repeat(40)}file`, 'z'.repeat(512)],
    ['größe/日本.txt', ''],
  ]);
  const parts = [...files].flatMap(([path, text]) => {
    const bytes = Buffer.from(text);
    return [tarHeader(path, bytes.length), bytes, tarPadding(bytes.length)];
  });
  const input = Buffer.concat([...parts, tarEnd()]);
  const tar = (...args: string[]) => spawnSync('tar', args, { input, encoding: 'utf8' });
  const list = tar('-tf', '-', '--quoting-style=literal');
  assert.deepEqual([list.stderr, list.stdout.trim().split('\n')], ['', [...files.keys()]]);
  for (const [path, text] of files) assert.equal(tar('-xOf', '-', path).stdout, text);
});
