// When the web page is built anew.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { bundle, isStampOf, stampOf } from '../../../tools/page.ts';

test('what is bundled is looked at, wherever it lies', async () => {
  const { sources } = await bundle();
  for (const file of [
    ...[
      'src/pages.tsx',
      'src/kernel/page/app.tsx',
      'src/kernel/page/style.css',
      'src/kernel/page/index.html',
      'src/kernel/page/icon.svg',
    ],
    ...[
      'src/kernel/base/duration.ts',
      'src/kernel/api/paths.ts',
      'package-lock.json',
      'tools/page.ts',
    ],
  ]) {
    assert.ok(sources.includes(file), file);
  }
});

test('a stamp holds until one of its files changes or goes', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-stamp-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const write = (name: string, text: string): void => writeFileSync(path.join(root, name), text);
  write('a.ts', 'one');
  const stamp = stampOf(['a.ts'], root);
  assert.deepEqual(
    [isStampOf(stamp, root), isStampOf('', root), isStampOf('x', root)],
    [true, false, false],
  );
  write('a.ts', 'other');
  assert.equal(isStampOf(stamp, root), false);
  write('a.ts', 'one');
  assert.equal(isStampOf(stamp, root), true);
  rmSync(path.join(root, 'a.ts'));
  assert.equal(isStampOf(stamp, root), false);
});
