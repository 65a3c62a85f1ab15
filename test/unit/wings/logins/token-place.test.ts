// Where the token of a login is kept: never where another head's is read from.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { believed } from '../../../../src/kernel/base/believed.ts';
import { tokenPlace, tryPlace } from '../../../../src/wings/logins/cli/token-place.ts';

test('[Y5] the file of one head is not given the token of another', (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-token-'));
  t.after(() => rmSync(home, { recursive: true }));
  const folder = path.join(home, '.config', 'weft');
  mkdirSync(folder, { recursive: true });
  // What the command does not look at is left out of its context.
  const context = believed<Parameters<typeof tokenPlace>[0]>({
    options: {},
    environment: { HOME: home, WEFT_CLIENT_FILE: path.join(home, 'none') },
  });
  const place = (url: string) =>
    tokenPlace(context, { kind: 'url', url: new URL(url), fingerprint: null, token: null });
  assert.match(place('https://a:5001').client?.text ?? '', /^head: "https:\/\/a:5001"\n/);
  for (const head of ['https://a:5001', 'a:5001', 'https://a']) {
    writeFileSync(path.join(folder, 'client.yaml'), `head: "${head}"\ntoken_file: "~/token-a"\n`);
    assert.equal(place('https://a:5001').file, path.join(home, 'token-a'));
    assert.throws(
      () => place('https://b:5001'),
      /the token of .*a(:5001)? is, and this is https:\/\/b/,
    );
  }
});

test('[Y5] a place that cannot be written is known before a token is asked for', (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-token-'));
  t.after(() => rmSync(home, { recursive: true }));
  const own = path.join(home, 'token');
  writeFileSync(own, 'of before');
  tryPlace({ file: own, client: { file: path.join(home, 'new', 'client.yaml'), text: 'head: a' } });
  assert.equal(readFileSync(own, 'utf8'), 'of before');
  assert.ok(!existsSync(path.join(home, 'new', 'client.yaml')));
  const file = path.join(own, 'weft', 'token');
  assert.throws(() => tryPlace({ file, client: null }), /cannot be written/);
});
