// Units of ours mark what they set for a daemon itself, so that commands of the site do not get it.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withoutOwn } from '../../../../src/kernel/base/own-variables.ts';

const UNITS = path.resolve(import.meta.dirname, '../../../../deploy/systemd');

test('what a unit sets reaches no command of the site, but where things lie', () => {
  let marked = 0;
  for (const name of readdirSync(UNITS).filter((file) => file.endsWith('.service'))) {
    const text = readFileSync(path.join(UNITS, name), 'utf8');
    const lines = [...text.matchAll(/^Environment=(.*)$/gm)].map(([, line = '']) => line);
    const words = lines.flatMap((line) => line.match(/"[^"]*"|\S+/g) ?? []);
    const set = words.map((word) => word.replaceAll('"', ''));
    const variables = Object.fromEntries(
      set.map((word) => [word.split('=')[0] ?? '', word.slice(word.indexOf('=') + 1)]),
    );
    const others = Object.keys(withoutOwn(variables));
    marked += Object.keys(variables).length - others.length;
    assert.deepEqual(
      others.filter((one) => !/^(WEFT_DIR|XDG_CACHE_HOME)$/.test(one)),
      [],
      name,
    );
  }
  assert.equal(marked, 3, 'NODE_OPTIONS, MALLOC_ARENA_MAX, and what marks them');
});
