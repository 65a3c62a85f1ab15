// Whose processes are at the other ends of unix sockets: the kernel says it to the launcher.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ensureLauncher } from '../../../../src/kernel/os/launcher-build.ts';
import { uidsByLauncher } from '../../../../src/kernel/os/unix-peers.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'weft-peers-'));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true, force: true }));
const launcher = ensureLauncher(folder).then(({ kind, command }) =>
  kind === 'c' ? command : null,
);

test('[D6] the launcher says of each connection which uid has made it', async () => {
  const file = join(folder, 'socket');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ path: file, writableAll: true }, resolve));
  const accepted: Socket[] = [];
  server.on('connection', (socket) => accepted.push(socket));
  const uids = isRoot ? [0, NOBODY, 0] : [process.getuid?.() ?? 0];
  const clients = [];
  for (const uid of uids) {
    const text = `require('net').connect('${file}').on('connect', () => console.log(1)).resume()`;
    const user = isRoot ? { uid, gid: uid } : {};
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const client = spawn(process.execPath, ['-e', text], { stdio: [...stdio], ...user });
    clients.push(client);
    await once(client.stdout as NodeJS.ReadableStream, 'data');
  }
  const gone = connect(file);
  await once(gone, 'connect');
  while (accepted.length <= uids.length) await once(server, 'connection');
  accepted.at(-1)?.destroy();
  try {
    const uidsOf = uidsByLauncher(launcher);
    assert.deepEqual(await uidsOf(accepted), [...uids, null]);
    // It has only looked: what comes next is read as ever.
    const [first] = accepted as [Socket];
    assert.equal(first.destroyed, false);
    const mine = connect(file);
    const [last] = (await once(server, 'connection')) as [Socket];
    assert.deepEqual(await uidsOf([last]), [process.getuid?.()]);
    mine.write('hello');
    const [read] = (await once(last, 'data')) as [Buffer];
    assert.equal(String(read), 'hello');
    mine.destroy();
  } finally {
    for (const client of clients) client.kill('SIGKILL');
    gone.destroy();
    for (const socket of accepted) socket.destroy();
    server.close();
  }
});

test('[D6] where there is no compiled launcher nobody is told', async () => {
  const socket = {} as Socket;
  assert.deepEqual(await uidsByLauncher(Promise.resolve(null))([socket]), [null]);
  assert.deepEqual(await uidsByLauncher(Promise.resolve(['/nowhere/at-all']))([socket]), [null]);
});
