// Folders read whole: in order, with names of any bytes, and going on where something cannot be
// read.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { walk } from '../../../../../src/kernel/transfer/walk.ts';

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'weft-walk-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

test('folders come before what is in them, and links are not followed', (t) => {
  const top = folder(t);
  mkdirSync(path.join(top, 'b/c'), { recursive: true });
  writeFileSync(path.join(top, 'b/c/d'), '');
  writeFileSync(path.join(top, 'a'), '');
  symlinkSync('..', path.join(top, 'b/up'));
  const found = [...walk(top)].map(({ path: at, kind }) => `${at} ${kind}`);
  assert.deepEqual(found, ['a file', 'b folder', 'b/c folder', 'b/c/d file', 'b/up link']);
});

test('a name that is no text keeps its bytes', (t) => {
  const top = folder(t);
  const name = Buffer.concat([Buffer.from(`${top}/caf`), Buffer.from([0xe9])]);
  writeFileSync(name, '');
  const [entry] = walk(top);
  assert.equal(entry?.isText, false);
  assert.ok(entry.full.equals(name));
});

test('what cannot be read is told with its path, and the walk goes on', (t) => {
  const top = folder(t);
  mkdirSync(path.join(top, 'a/goes'), { recursive: true });
  writeFileSync(path.join(top, 'z'), '');
  const told: string[] = [];
  const found: string[] = [];
  for (const { path: at } of walk(top, (where) => told.push(where))) {
    found.push(at);
    if (at === 'a/goes') rmSync(path.join(top, at), { recursive: true });
  }
  assert.deepEqual({ found, told }, { found: ['a', 'a/goes', 'z'], told: ['a/goes'] });
  assert.deepEqual([...walk(path.join(top, 'none'), (where) => told.push(where))], []);
  assert.deepEqual(told, ['a/goes', '']);
  assert.throws(() => [...walk(path.join(top, 'none'))], { code: 'ENOENT' });
});
