// `weft node reenroll` on a machine whose folder is a copy of another one's.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { writeMark } from '../../../../src/kernel/connect/process-file.ts';
import { FakeHead } from './fake-head.ts';

const TOKEN = 'weft-join:none';

async function copied(): Promise<FakeHead> {
  const head = await FakeHead.start({});
  const membership = {
    name: 'n1',
    url: 'https://h',
    fingerprint: '',
    secret: 's',
    clusterName: 'c',
  };
  writeFileSync(join(head.directory, 'membership.json'), JSON.stringify(membership));
  for (const folder of ['run', 'nodes/n1']) {
    mkdirSync(join(head.directory, folder), { recursive: true });
  }
  return head;
}

test('[N19] a machine that has not joined is no copy', async () => {
  await using head = await FakeHead.start({});
  const { code, error } = await head.weft('node', 'reenroll', TOKEN);
  assert.equal(code, 2);
  assert.match(error, /has not joined a cluster/);
});

test('[N19] a copy whose agent runs is not enrolled anew', async () => {
  await using head = await copied();
  writeMark(join(head.directory, 'run', 'n1.pid'), process.pid);
  const { code, error } = await head.weft('node', 'reenroll', TOKEN);
  assert.equal(code, 2);
  assert.match(error, /the agent of n1 runs here/);
});

test('[N19] a machine on which tasks may run is not enrolled anew', async () => {
  await using head = await copied();
  const launcher = createServer();
  await new Promise<void>((resolve) => {
    launcher.listen(join(head.directory, 'nodes', 'n1', 'launcher.sock'), resolve);
  });
  try {
    const { code, error } = await head.weft('node', 'reenroll', TOKEN);
    assert.equal(code, 5);
    assert.match(error, /Tasks of n1 run on this machine/);
  } finally {
    await new Promise((resolve) => launcher.close(resolve));
  }
  const { error } = await head.weft('node', 'reenroll', TOKEN);
  assert.match(error, /not a join token/, 'with nothing left only the token counts');
});

test('[N19] its token is read from standard input as that of a join is', async (t) => {
  await using head = await copied();
  const { stdin } = process;
  t.after(() => Object.defineProperty(process, 'stdin', { value: stdin }));
  const value = Readable.from([`${TOKEN}\n`]);
  Object.defineProperty(process, 'stdin', { value, configurable: true });
  const { error } = await head.weft('node', 'reenroll', '--name', 'n2');
  assert.match(error, /^weft: reading a join token .* from standard input$/m);
  assert.match(error, /not a join token/);
});
