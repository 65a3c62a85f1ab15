// The site as it is made of the documents of this repository.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteFiles } from '../../../../tools/site.ts';

test('every page is there, lies where a head serves it, and loads nothing from elsewhere', async () => {
  const files = await siteFiles();
  for (const name of ['index.html', 'install.html', 'commands/run.html', 'readme.html'])
    assert.ok(files.has(name), name);
  for (const [name, bytes] of files) {
    assert.match(name, /^([a-z0-9-]{1,40}\/)?[A-Za-z0-9_-]{1,80}\.(html|css|js|svg|png)$/);
    if (!name.endsWith('.html')) continue;
    const page = bytes.toString();
    const loaded = [...page.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]*)"/g)];
    assert.deepEqual(
      loaded.map(([, url = '']) => url).filter((url) => /^(https?:)?\/\//.test(url)),
      [],
      name,
    );
    assert.doesNotMatch(page, / style="/, `${name}: a head forbids styles in elements`);
  }
});
