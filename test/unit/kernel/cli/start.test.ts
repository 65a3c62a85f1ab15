// What a command loads before it can answer: everybody waits for it, every time.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const WEFT = fileURLToPath(new URL('../../../../bin/weft.mjs', import.meta.url));

/** Prints the names of all modules of Node and of all files that were loaded, one a line. */
const SPY = `
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load(url, of, next) { files.push(url); return next(url, of); } });
  process.on('exit', () => {
    const own = process.moduleLoadList.map((name) => name.split(' ').at(-1));
    process.stdout.write([...own, ...files].join('\\n'));
  });
`;

test('a listing loads neither clients for HTTP nor schemas, YAML, TLS or cryptography', () => {
  const spy = `data:text/javascript,${encodeURIComponent(SPY)}`;
  const environment = { PATH: process.env['PATH'], HOME: '/nonexistent', WEFT_DIR: '/nonexistent' };
  const argv = ['--import', spy, WEFT, 'node', 'list'];
  const ran = spawnSync(process.execPath, argv, { env: environment, encoding: 'utf8' });
  assert.match(ran.stderr, /No head answers/, 'it came as far as the head');
  const loaded = ran.stdout.split('\n');
  assert.ok(loaded.includes('net'), 'the spy sees what is loaded');
  const costly = /undici|\/zod\/|\/yaml\/|\/ws\/|\/pino\/|^https?$|^tls$|^crypto$|^perf_hooks$/;
  assert.deepEqual(
    loaded.filter((name) => costly.test(name)),
    [],
  );
});
