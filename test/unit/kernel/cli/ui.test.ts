// `weft ui`: where the link leads, and that its secret is no argument of any program.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { verb } from '../../../../src/kernel/cli/commands/ui.ts';
import type { Verb } from '../../../../src/kernel/cli/verb.ts';
import { makeFolder } from '../../../support/folder.ts';
import { type Answers, FakeHead } from './fake-head.ts';

const LINK = {
  secret: 'ab_cd',
  expiresAt: Date.now() + 100_000,
  loopbackPort: 4321,
  addresses: ['head.lab:5001'],
  fingerprint: 'f00d',
};
const gives = (link: object): Answers => ({
  'POST /v1/ui/links': () => ({ json: { ...LINK, ...link } }),
});

test('ui --print says where the page is, and for how long the link works', async () => {
  await using head = await FakeHead.start(gives({}));
  const near = await head.weft('ui', '--print');
  assert.equal(near.out, 'http://127.0.0.1:4321/#login=ab_cd\n');
  assert.match(near.error, /works once, within 1m\d\ds?/);
  await using shared = await FakeHead.start(gives({ loopbackPort: null }));
  const far = await shared.weft('ui', '--print');
  assert.equal(far.out, 'https://head.lab:5001/#login=ab_cd\n');
  assert.match(far.error, /its SHA-256 is f00d/);
  await using closed = await FakeHead.start(gives({ loopbackPort: null, addresses: [] }));
  assert.equal((await closed.weft('ui', '--print')).code, 2);
});

test('ui opens a browser, and no argument of any program has the secret', async (t) => {
  const folder = makeFolder(t, {
    'bin/xdg-open': '#!/bin/sh\necho "$@" > "$OPENED"\n',
    'run/': '',
  });
  const opened = path.join(folder, 'opened');
  await using head = await FakeHead.start(gives({}));
  const environment = {
    DISPLAY: ':9',
    PATH: path.join(folder, 'bin'),
    XDG_RUNTIME_DIR: path.join(folder, 'run'),
  };
  process.env['OPENED'] = opened;
  const said = await head.seedWith(environment, 'ui', verb as Verb);
  assert.deepEqual([said.code, said.error], [0, '']);
  while (!existsSync(opened) || readFileSync(opened, 'utf8') === '') await sleep(5);
  const file = path.join(folder, 'run', 'weft-ui.html');
  assert.equal(readFileSync(opened, 'utf8'), `file://${file}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, 'utf8'), /url=http:\/\/127\.0\.0\.1:4321\/#login=ab_cd"/);
  await using bare = await FakeHead.start(gives({}));
  const without = await bare.seedWith({ DISPLAY: ':9', PATH: folder }, 'ui', verb as Verb);
  assert.match(without.out, /#login=ab_cd/, 'no program to open it with');
});
