// The launcher's files depend on each other in one direction, that of the table in its README.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const FOLDER = join(import.meta.dirname, '../../launcher');

test('each file of the launcher includes only what stands below it in the README', () => {
  const table = readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/^\| `([\w-]+)\.c` \|/gm);
  const order = [...table].map(([, name = '']) => name);
  const files = readdirSync(FOLDER).filter((name) => /\.[ch]$/.test(name));
  const names = new Set(files.map((file) => file.slice(0, -2)));
  assert.deepEqual([...names].sort(), [...order].sort());
  for (const file of files) {
    const own = file.slice(0, -2);
    const includes = readFileSync(join(FOLDER, file), 'utf8').matchAll(/^#include "([\w-]+)\.h"/gm);
    for (const [, name = ''] of includes) {
      if (name === own) continue;
      assert.ok(order.indexOf(name) > order.indexOf(own), `${file} includes ${name}.h`);
    }
  }
});
