// A temporary folder with files in it, gone when the test is over.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** Texts by relative path; a path that ends in `/` is an empty folder. Programs begin with `#!`. */
export function makeFolder(test: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-test-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    const full = path.join(folder, name);
    mkdirSync(name.endsWith('/') ? full : path.dirname(full), { recursive: true });
    if (name.endsWith('/')) continue;
    writeFileSync(full, text);
    if (text.startsWith('#!')) chmodSync(full, 0o755);
  }
  return folder;
}
