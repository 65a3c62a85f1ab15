// Input of a site's jobs as files: what one gateway wrote the next one goes on with.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inputFiles } from '../../../../../src/wings/sites/os/input-files.ts';
import { INPUT_HEAD_BYTES } from '../../../../../src/wings/sites/ports/input-file.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-input-files-'));
after(() => rmSync(top, { recursive: true }));

test('[G25] the next gateway goes on where the one before ended, and knows the end', async () => {
  const path = join(top, 'one');
  const first = await inputFiles.make(path, null);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await first.write(Buffer.from('abc'));
  const second = inputFiles.resume(path);
  assert.deepEqual([second?.bytes, second?.isEnded], [3, false]);
  await second?.pipe.write(Buffer.from('def'));
  await second?.pipe.end();
  const third = inputFiles.resume(path);
  assert.deepEqual([third?.bytes, third?.isEnded], [6, true]);
  const text = readFileSync(path, 'utf8');
  assert.deepEqual(
    [text.slice(0, INPUT_HEAD_BYTES).trim(), text.slice(INPUT_HEAD_BYTES)],
    ['6', 'abcdef'],
  );
  third?.pipe.remove();
  assert.ok(!existsSync(path));
});

test('a link at the place of an input is not followed', async () => {
  const path = join(top, 'link');
  symlinkSync(join(top, 'target'), path);
  assert.throws(() => inputFiles.make(path, null), /ELOOP/);
  assert.ok(!existsSync(join(top, 'target')));
});
