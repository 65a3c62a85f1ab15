// The listener for wiki schedulers in the configuration: off by default, and never open without a
// lock.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../../../../src/kernel/config/config.ts';
import { wikiOptions } from '../../../../../src/wings/wiki/config/wiki-options.ts';
import { WINGS } from '../../../../../src/wings.ts';

async function options(text: string, mode = 0o600) {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-wiki-'));
  const key = path.join(directory, 'wiki.key');
  const file = path.join(directory, 'weft.yaml');
  writeFileSync(key, '42\n');
  chmodSync(key, mode);
  writeFileSync(file, text);
  try {
    const sources = { environment: {}, file, directory, wings: WINGS };
    return { read: wikiOptions(await loadConfig(sources)), key };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('[D3] without wiki.listen there is no door', async () => {
  assert.equal((await options('wiki: {unsigned: true}\n')).read, null);
});

test('[D3] the key lies beside the configuration', async () => {
  const { read, key } = await options('wiki: {listen: "127.0.0.1:7321", key_file: wiki.key}\n');
  assert.deepEqual([read?.keyFile, read?.unsigned], [key, false]);
});

test('[D5] a unix socket lies beside the configuration, and needs no key', async () => {
  const { read, key } = await options('wiki: {listen: wiki.sock, group: maui}\n');
  assert.deepEqual(read?.listen, { path: path.join(path.dirname(key), 'wiki.sock') });
  assert.deepEqual([read?.unsigned, read?.group], [true, 'maui']);
  const signed = await options('wiki: {listen: /run/weft/wiki.sock, key_file: wiki.key}\n');
  assert.deepEqual(
    [signed.read?.unsigned, signed.read?.listen],
    [false, { path: '/run/weft/wiki.sock' }],
  );
});

test('[D5] other machines come in by their addresses only', async () => {
  const text =
    'wiki: {listen: "0.0.0.0:7321", key_file: wiki.key, allow: ["10.0.0.2", "fd00::/8"]}\n';
  const allow = ['10.0.0.2', 'fd00::/8'];
  assert.deepEqual((await options(text)).read?.listen, { host: '0.0.0.0', port: 7321, allow });
});

const WRONG = [
  ['wiki: {listen: "127.0.0.1:1"}', 0o600, /needs wiki\.key_file/],
  ['wiki: {listen: "127.0.0.1:1", key_file: wiki.key}', 0o640, /others can read .*chmod 600/],
  ['wiki: {listen: "127.0.0.1:1", key_file: no.key}', 0o600, /cannot be read: no such file/],
  ['wiki: {listen: "0.0.0.0:1", unsigned: true}', 0o600, /wiki\.unsigned is for loopback only/],
  ['wiki: {listen: "0.0.0.0:1", key_file: wiki.key}', 0o600, /reached from other machines; name/],
  ['wiki: {listen: "[::]:1", key_file: wiki.key}', 0o600, /reached from other machines; name/],
  ['wiki: {listen: "h:1x", key_file: wiki.key}', 0o600, /neither host:port nor the path/],
  ['wiki: {listen: "0.0.0.0:1", key_file: wiki.key, allow: grid1}', 0o600, /wiki\.allow: 'grid1'/],
  ['wiki: {listen: "0.0.0.0:1", key_file: wiki.key, allow: 10.0.0.0/33}', 0o600, /10\.0\.0\.0\/33/],
] as const;

for (const [text, mode, words] of WRONG) {
  test(`[D3] ${text} is refused: ${words}`, async () => {
    await assert.rejects(options(`${text}\n`, mode), words);
  });
}
