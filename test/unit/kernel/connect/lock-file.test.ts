// A lock that cannot be written leaves nothing behind.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const MODULE = fileURLToPath(
  new URL('../../../../src/kernel/connect/lock-file.ts', import.meta.url),
);

test('a lock for which the disk has no room leaves no file', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const script = `
    const { takeLock } = await import(process.argv[1]);
    try { takeLock(process.argv[2], 'user'); } catch (error) { console.log(error.code, error.path); }`;
  // No file can have a byte, as on a full disk.
  const limited = `trap '' XFSZ; ulimit -f 0; exec "$@"`;
  const node = [process.execPath, '--input-type=module', '-e', script, MODULE];
  const argv = ['-c', limited, 'sh', ...node, path.join(folder, 'lock')];
  const { stdout, stderr } = spawnSync('sh', argv, { encoding: 'utf8' });
  assert.equal(stdout.trim(), `EFBIG ${path.join(folder, 'lock')}`, stderr);
  assert.deepEqual(readdirSync(folder), []);
});
