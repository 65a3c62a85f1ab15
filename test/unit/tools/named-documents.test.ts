// Documents that the program, its errors and its comments name are there.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesBelow, ROOT } from '../../../tools/tree.ts';

const FOLDERS = ['src', 'launcher', 'sim', 'bench', 'deploy', 'examples', 'tools'];
/** `docs/goals.md`; in descriptions of keys also as `See fencing.md.` */
const NAMED = /\bdocs\/(?<path>[\w./-]+\.md)\b|\bSee (?<page>[\w-]+\.md)\b/g;

const named = FOLDERS.flatMap((folder) => filesBelow(folder)).flatMap((file) => {
  if (!/\.(ts|tsx|c|h|sh|py|md|yaml|service)$/.test(file)) return [];
  const found = readFileSync(path.join(ROOT, file), 'utf8').matchAll(NAMED);
  return [...found].map(({ groups }) => ({ file, page: groups?.['path'] ?? groups?.['page'] }));
});

test('each page that is named is there', () => {
  const missing = named.filter(({ page }) => !existsSync(path.join(ROOT, 'docs', String(page))));
  assert.deepEqual(missing, []);
  assert.ok(named.length > 40, 'they are found');
});
