// Text from elsewhere: bounded in time and size, and told without its address when it fails.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemDataReader } from '../../../../src/kernel/os/data-reader.ts';

const root = mkdtempSync(join(tmpdir(), 'weft-data-'));
after(() => rmSync(root, { recursive: true }));

const MAX = 8 * 1_048_576;
const TOO_LONG = { message: 'it has more than 8 MiB' };
const readFile = (path: string, timeoutMs = 60_000) =>
  systemDataReader.read({ from: { kind: 'file', path }, timeoutMs });
const readUrl = (url: string, timeoutMs = 60_000) =>
  systemDataReader.read({ from: { kind: 'url', url }, timeoutMs });

test('a file is read whole, also one that says that it is empty, up to its limit', async () => {
  const file = join(root, 'labels.json');
  writeFileSync(file, '{"n1": ["größe"]}');
  assert.equal(await readFile(file), '{"n1": ["größe"]}');
  assert.match(await readFile('/proc/self/status'), /^Name:/);
  truncateSync(file, MAX);
  assert.equal((await readFile(file)).length, MAX - 2);
  truncateSync(file, MAX + 1);
  await assert.rejects(readFile(file), TOO_LONG);
});

test('a pipe is not waited for, and a device or a folder is not read', async () => {
  const pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', root]) {
    await assert.rejects(readFile(path), { message: 'it is no regular file' });
  }
});

test('a file that does not answer in time is given up', async (t) => {
  const file = join(root, 'slow.json');
  writeFileSync(file, '{}');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reading = readFile(file, 2000);
  t.mock.timers.tick(2000);
  await assert.rejects(reading, { message: 'it did not answer within 2 s' });
});

test('an address that fails is told without its words', async () => {
  const server = createServer(({ url }, answer) => {
    if (url === '/late') return;
    if (url === '/long') return void answer.end(Buffer.alloc(MAX + 1));
    answer.writeHead(url === '/moved' ? 302 : 503, { location: '/secret' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  try {
    await assert.rejects(readUrl(`${base}/`), { message: 'it answered with status 503' });
    await assert.rejects(readUrl(`${base}/long`), TOO_LONG);
    await assert.rejects(readUrl(`${base}/moved`), { message: 'it could not be asked' });
    const late = { message: 'it did not answer within 0.05 s' };
    await assert.rejects(readUrl(`${base}/late`, 50), late);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const refused = { message: 'it could not be asked: ECONNREFUSED' };
  await assert.rejects(readUrl(`${base}/?key=secret`), refused);
  const bare = { message: 'it could not be asked' };
  await assert.rejects(readUrl(`http://ann:secret@127.0.0.1:${port}/`), bare);
});
