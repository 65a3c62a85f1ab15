// Files put together to one tar file, as tar(1) reads it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { tarEnd, tarHeader, tarPadding } from '../../../../src/kernel/page/pure/tar.ts';

test('tar(1) finds every name and content, long names and foreign letters too', () => {
  const files = new Map([
    ['re_100/result.csv', 'x,y\n1,2\n'],
    [`${'deep/'.repeat(40)}file`, 'z'.repeat(512)],
    ['größe/日本.txt', ''],
  ]);
  const parts = [...files].flatMap(([path, text]) => {
    const bytes = Buffer.from(text);
    const entry = { path, kind: 'file', size: bytes.length, mode: 0o644, modifiedAt: 0 } as const;
    return [tarHeader(entry), bytes, tarPadding(bytes.length)];
  });
  const input = Buffer.concat([...parts, tarEnd()]);
  const tar = (...args: string[]) => spawnSync('tar', args, { input, encoding: 'utf8' });
  const list = tar('-tf', '-', '--quoting-style=literal');
  assert.deepEqual([list.stderr, list.stdout.trim().split('\n')], ['', [...files.keys()]]);
  for (const [path, text] of files) assert.equal(tar('-xOf', '-', path).stdout, text);
});

test('tar(1) finds modes, times, folders and links', () => {
  const modifiedAt = Date.UTC(2026, 0, 31, 12, 30, 15);
  const of = { size: 0, mode: 0o755, modifiedAt };
  const deep = `${'deep/'.repeat(40)}file`;
  const input = Buffer.concat([
    tarHeader({ ...of, path: 'run.sh', kind: 'file' }),
    tarHeader({ ...of, path: 'empty', kind: 'folder', mode: 0o750 }),
    tarHeader({ ...of, path: 'old', kind: 'file', mode: 0o4600, modifiedAt: -5000 }),
    tarHeader({ ...of, path: 'last', kind: 'link', target: 'run.sh' }),
    tarHeader({ ...of, path: 'far', kind: 'link', target: deep }),
    tarEnd(),
  ]);
  const args = ['-tvf', '-', '--utc', '--full-time'];
  const { stdout, stderr } = spawnSync('tar', args, { input, encoding: 'utf8' });
  const at = '2026-01-31 12:30:15';
  assert.equal(stderr, '');
  assert.deepEqual(
    stdout
      .trim()
      .replace(/ 0\/0 +0/g, '')
      .split('\n'),
    [
      `-rwxr-xr-x ${at} run.sh`,
      `drwxr-x--- ${at} empty/`,
      '-rw------- 1970-01-01 00:00:00 old',
      `lrwxr-xr-x ${at} last -> run.sh`,
      `lrwxr-xr-x ${at} far -> ${deep}`,
    ],
  );
});
