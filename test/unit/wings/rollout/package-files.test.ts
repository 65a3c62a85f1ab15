// A file that is sent to machines, made while something changes what goes into it.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { packageFiles } from '../../../../src/wings/rollout/cli/package-files.ts';
import { ROOT } from '../../../../tools/tree.ts';

const skip = !existsSync(path.join(ROOT, 'dist/bin/programs.cjs')) && 'needs npm run build';

/** A `tar` that says so many times that what it reads has changed; how often it ran. */
function changing(t: TestContext, times: number): () => number {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-tar-'));
  const ran = path.join(folder, 'ran');
  const count = `echo >> ${ran}; [ "$(wc -l < ${ran})" -gt ${times} ]`;
  writeFileSync(path.join(folder, 'tar'), `#!/bin/sh\n${count} || exit 1\n`, { mode: 0o755 });
  const { PATH } = process.env;
  process.env['PATH'] = `${folder}:${PATH}`;
  t.after(() => {
    process.env['PATH'] = PATH;
    rmSync(folder, { recursive: true });
  });
  return () => readFileSync(ran, 'utf8').length;
}

test('what changes while it is packed is packed once more', { skip }, async (t) => {
  const ran = changing(t, 1);
  const made = packageFiles();
  t.after(() => made.remove());
  assert.match(await made.file('weft'), /weft\.tar\.gz$/);
  assert.equal(ran(), 2);
});

test('what changes every time is not sent', { skip }, async (t) => {
  const ran = changing(t, 9);
  const made = packageFiles();
  t.after(() => made.remove());
  await assert.rejects(made.file('weft'), /tar/);
  assert.equal(ran(), 3);
});
