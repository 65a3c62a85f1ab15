// A head that cannot start: one clear error on the terminal and in its log, an exit code that says
// whether another try is worth it, and no process that stays.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { HeadDirectory } from '../../support/head-process.ts';

/** A head that has run and was stopped in good order: its state is a snapshot. */
async function stopped(t: TestContext, args = ['--listen', 'none']): Promise<HeadDirectory> {
  const head = new HeadDirectory(t);
  await head.serve(args);
  await head.end('SIGTERM');
  return head;
}

async function refuses(
  head: HeadDirectory,
  exit: number,
  words: RegExp,
  args?: string[],
  env?: Record<string, string>,
) {
  const { code, error } = await head.start(args, env);
  assert.equal(code, exit, error);
  assert.match(error, words);
  assert.doesNotMatch(error, /a bug|\n\s+at /, 'no stack, no claim of a bug');
  assert.doesNotMatch(error, /head of/, 'it must not claim to serve');
  const last = JSON.parse(head.log.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  assert.equal(last['msg'], 'the head ends because of a failure');
  assert.equal(last['exit'], exit);
  assert.match(String(last['cause']), words);
  assert.equal(last['error'], undefined, 'a stack is for bugs');
}

function change(head: HeadDirectory, statements: string): void {
  const database = new DatabaseSync(head.file('weft.db'));
  database.exec(statements);
  database.close();
}

test('a damaged part of the snapshot ends the head with 65', async (t) => {
  const head = await stopped(t);
  change(head, "UPDATE snapshot_part SET bytes = x'00112233'");
  await refuses(head, 65, /is damaged: part 0 of the snapshot.*restore a copy/);
});

test('a snapshot that is whole but means nothing ends the head with 65', async (t) => {
  const head = await stopped(t);
  const bytes = Buffer.from('c0', 'hex'); // A null, well encoded.
  change(head, `UPDATE snapshot_part SET bytes = x'c0', crc = ${crc32(bytes)}`);
  await refuses(head, 65, /the snapshot .*cannot be used/);
});

test('a store that a newer release has served ends an older head with 65, and nothing is changed', async (t) => {
  const head = await stopped(t);
  writeFileSync(head.file('release'), '99.1.0\n');
  const before = readFileSync(head.file('weft.db'));
  await refuses(head, 65, /last served by Weft 99\.1\.0, .* Install 99\.1\.0 again/);
  assert.deepEqual(readFileSync(head.file('weft.db')), before);
  assert.equal(readFileSync(head.file('release'), 'utf8'), '99.1.0\n');
});

test('a database file cut short ends the head with 65', async (t) => {
  const head = await stopped(t);
  truncateSync(head.file('weft.db'), Math.floor(statSync(head.file('weft.db')).size / 8192) * 4096);
  await refuses(head, 65, /malformed|damaged/);
});

test('a file that is no database ends the head with 65', async (t) => {
  const head = await stopped(t);
  writeFileSync(head.file('weft.db'), 'the shopping list\n'.repeat(500));
  await refuses(head, 65, /not a Weft store/);
});

test('a damaged key ends the head with 65, and what a stranger put in place of the logins with 77', async (t) => {
  const listen = ['--listen', '127.0.0.1:0'];
  const head = await stopped(t, listen);
  const key = readFileSync(head.file('tls/key.pem'));
  writeFileSync(head.file('tls/key.pem'), key.subarray(0, 100));
  await refuses(head, 65, /tls\/key\.pem is damaged.* fingerprint [0-9a-f]{64}/, listen);
  writeFileSync(head.file('tls/key.pem'), key);
  const logins = join(head.directory, `weft-login-${process.getuid?.()}`);
  writeFileSync(logins, '');
  const words = /weft-login-\d+ is not a directory; .* must be a directory of uid \d+\. Remove it/;
  await refuses(head, 77, words, listen, { TMPDIR: head.directory });
});

/** Whatever looks for captured output below the head's directory never comes back. */
const HANGING = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  for (const name of ['opendir', 'readdir', 'stat']) {
    const real = fs.promises[name];
    fs.promises[name] = (path, ...more) =>
      /head.logs(.\\d|$)/.test(String(path)) ? new Promise(() => {}) : real(path, ...more);
  }
  syncBuiltinESMExports();
`;

test('a head serves before it has looked at the output of earlier ones', async (t) => {
  const head = await stopped(t);
  rmSync(head.file('logs/total'), { force: true });
  mkdirSync(head.file('logs/0/1'), { recursive: true });
  writeFileSync(head.file('logs/0/1/-.1.0.0.out'), 'kept by a head that noted no total');
  const spy = `data:text/javascript,${encodeURIComponent(HANGING)}`;
  const { call } = await head.serve(['--listen', 'none'], { NODE_OPTIONS: `--import=${spy}` });
  assert.ok(await call('GET', '/v1/info'));
});

test('a second head in the same directory ends with 75, and the first goes on', async (t) => {
  const head = new HeadDirectory(t);
  const { call } = await head.serve();
  const { code, error } = await head.second();
  assert.equal(code, 75, error);
  assert.match(error, /Another head \(pid \d+\)/);
  assert.ok(await call('GET', '/v1/info'));
});

test('a busy port ends the head with 75, and it says which', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const head = new HeadDirectory(t);
  const words = new RegExp(`another program uses the port 127.0.0.1:${port} \\(EADDRINUSE\\)`);
  await refuses(head, 75, words, ['--listen', `127.0.0.1:${port}`]);
});

test('a key that is gone is not replaced: 65, until a new identity is asked for', async (t) => {
  const listen = ['--listen', '127.0.0.1:0'];
  const head = await stopped(t, listen);
  const before = readFileSync(head.file('tls/certificate.pem'), 'utf8');
  renameSync(head.file('tls/key.pem'), head.file('tls/kept.pem'));
  await refuses(head, 65, /tls\/key\.pem is missing/, listen);
  assert.equal(readFileSync(head.file('tls/certificate.pem'), 'utf8'), before);
  const renewed = await head.start([...listen, '--new-identity']);
  assert.equal(renewed.code, null, renewed.error);
  assert.notEqual(readFileSync(head.file('tls/certificate.pem'), 'utf8'), before);
});
