// Files that are whole or not there.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { replaceDurably } from '../../../../src/head/archive/durable.ts';

test('of two that write a file at once one is there, whole, and neither fails', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-durable-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const texts = ['a', 'b'].map((sign) => sign.repeat(1_000_000));
  const file = path.join(folder, 'part');
  await Promise.all(texts.map((text) => replaceDurably(file, text)));
  assert.ok(texts.includes(readFileSync(file, 'utf8')));
  assert.deepEqual(readdirSync(folder), ['part']);
});
