// The pages of docs/ that are made from the code are those that the code makes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { KEPT_FROM, makePages } from '../../../tools/docs/pages.ts';

const root = path.resolve(import.meta.dirname, '../../..');

test('every command, configuration key and error code has its page, as tools/docs.ts writes it', async () => {
  const pages = await makePages();
  assert.ok(pages.length > 30);
  for (const page of pages) {
    const [generated = ''] = readFileSync(path.join(root, page.path), 'utf8').split(
      `\n${KEPT_FROM}`,
    );
    assert.equal(generated, page.text, `${page.path}: run tools/docs.ts`);
  }
});

test('every command page has an example', async () => {
  for (const page of await makePages()) {
    if (!page.path.startsWith('docs/commands/')) continue;
    const [, example = ''] = readFileSync(path.join(root, page.path), 'utf8').split(KEPT_FROM);
    assert.match(example, /\n```\n\$ \w/, page.path);
  }
});
