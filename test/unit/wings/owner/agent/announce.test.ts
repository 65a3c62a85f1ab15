// Agents of directories of their own are found by whoever pauses this machine.

import assert from 'node:assert/strict';
import { chownSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { announcedIn, announcementOf } from '../../../../../src/kernel/model/announcement.ts';
import { announce } from '../../../../../src/wings/owner/agent/listener/announce.ts';
import { localNodes, strangersHere } from '../../../../../src/wings/owner/cli/agent-sockets.ts';
import { makeFolder } from '../../../../support/folder.ts';

test('a listener is told by the name of a socket, and read from the list of the kernel', () => {
  const name = announcementOf(7, '/srv/a lab/agents/n1.sock');
  assert.equal(name, 'weft-agent/7/srv/a%20lab/agents/n1.sock');
  assert.equal(announcementOf(7, `/${'a'.repeat(100)}/agents/n1.sock`), null);
  const row = '00000000ae413537: 00000002 00000000 00010000 0001 01 6584408';
  const table = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    `${row} @${name}`,
    `${row} @${name?.replace('/7/', '/8/')}`,
    `${row} /srv/other/agents/n2.sock`,
    `${row} @weft-agent/9/srv/bad%zz/agents/n1.sock`,
    `${row} @weft-agent/9/srv/a%1B[2J/agents/n1.sock`,
    `${row} @weft-agent/9/srv/secret`,
    row,
    '',
  ].join('\n');
  assert.deepEqual(announcedIn(table), ['/srv/a lab/agents/n1.sock']);
});

/** A socket where agents have theirs, below a folder. */
async function doorIn(context: TestContext, name: string): Promise<string> {
  const door = path.join(makeFolder(context, {}), 'agents', `${name}.sock`);
  mkdirSync(path.dirname(door));
  const server = createServer().listen(door);
  await new Promise((resolve) => server.once('listening', resolve));
  context.after(() => server.close());
  return door;
}

test('[O9] an agent is found wherever its directory is, as long as it runs', async (context) => {
  const door = await doorIn(context, 'lab1');
  const home = makeFolder(context, {});
  const found = (isNamed = false) => {
    const named = localNodes({ directory: home, isNamed });
    return named.filter(({ socket }) => socket === door);
  };
  assert.deepEqual(found(), []);
  const announced = await announce(door);
  context.after(() => announced?.close());
  assert.deepEqual(found(), [{ name: 'lab1', socket: door }]);
  assert.deepEqual(found(true), [], 'where a directory is named, that is meant');
  await announced?.close();
  assert.deepEqual(found(), []);
});

test('[O9] what another user has announced is named, and asked by root alone', {
  skip: process.getuid?.() === 0 ? false : 'it gives files to another user',
}, async (context) => {
  const door = await doorIn(context, 'lab1');
  chownSync(door, 4242, 4242);
  const announced = await announce(door);
  context.after(() => announced?.close());
  const sockets = (): string[] => {
    const named = localNodes({ directory: '/nowhere', options: {}, environment: {} } as never);
    return named.map(({ socket }) => socket).filter((socket) => socket === door);
  };
  assert.deepEqual(sockets(), [door]);
  const getuid = context.mock.method(process as { getuid(): number }, 'getuid', () => 1234);
  assert.deepEqual(sockets(), []);
  assert.ok(strangersHere().includes(path.dirname(path.dirname(door))));
  getuid.mock.mockImplementation(() => 4242);
  assert.deepEqual(sockets(), [door]);
  rmSync(door);
  assert.deepEqual(sockets(), [], 'no socket lies there any more');
});
