// Proving locally who one is, and the ways in which somebody might try to be another.

import assert from 'node:assert/strict';
import { chown, mkdir, readdir, rmdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { errorFromAnswer } from '../../../../../src/kernel/api/api-error.ts';
import { createClient } from '../../../../../src/kernel/api/client.ts';
import { identityAt } from '../../../../../src/kernel/api/held-socket.ts';
import { proofName } from '../../../../../src/kernel/api/local-login.ts';
import { readText } from '../../../../../src/kernel/api/read-text.ts';
import { createTransport } from '../../../../../src/kernel/api/transport.ts';
import { startWorld, type World } from './fixture.ts';

async function post(world: World, step: string, body: object) {
  const transport = createTransport({ socketPath: world.socketPath });
  const request = { method: 'POST', path: `/v1/auth/local/${step}`, headers: {} };
  const answer = await transport.peer().send({ ...request, body: JSON.stringify(body) });
  const text = await readText(answer, 'test');
  transport.close();
  if (answer.statusCode !== 200) throw errorFromAnswer(answer.statusCode ?? 0, text);
  return JSON.parse(text) as Record<string, string>;
}

async function begin(world: World): Promise<{ challenge: string; directory: string }> {
  const { challenge = '', path = '' } = await post(world, 'begin', {});
  return { challenge, directory: proofName(path, identityAt(world.socketPath)) };
}

const refused = { code: 'auth.required' };

test('whoever owns the directory is who they are, and the directory is gone afterwards', async (t) => {
  const world = await startWorld(t);
  const login = path.join(world.directory, 'login');
  assert.equal((await stat(login)).mode & 0o7777, 0o1733);
  const me = await world.admin.call('whoami');
  assert.deepEqual([me.uid, me.role], [process.getuid?.(), 'admin']);
  assert.deepEqual(await readdir(login), []);
});

test('a cluster of one user lets nobody else in, whose jobs would run as that user', async (t) => {
  const world = await startWorld(t, { multiUser: false });
  assert.equal((await stat(world.socketPath)).mode & 0o777, 0o600);
  if (process.getuid?.() !== 0) return t.diagnostic('only root can make directories for others');
  const { challenge, directory } = await begin(world);
  await mkdir(directory, { mode: 0o700 });
  await chown(directory, 1, 1);
  await assert.rejects(post(world, 'finish', { challenge }), { code: 'auth.single_user' });
});

test('another uid is another user, without the rights of the head', async (t) => {
  const world = await startWorld(t);
  if (process.getuid?.() !== 0) return t.diagnostic('only root can make directories for others');
  const { challenge, directory } = await begin(world);
  await mkdir(directory, { mode: 0o700 });
  await chown(directory, 1, 1);
  const { token, user } = await post(world, 'finish', { challenge });
  const daemon = createClient({ address: { socketPath: world.socketPath }, token: token ?? '' });
  t.after(() => daemon.close());
  const { role, uid } = await daemon.call('whoami');
  assert.deepEqual([user, role, uid], ['daemon', 'user', 1]);
});

test('a link, a file, an open directory or none at all proves nothing', async (t) => {
  const world = await startWorld(t);
  const tricks: ((directory: string) => Promise<unknown>)[] = [
    (directory) => symlink('/', directory),
    (directory) => writeFile(directory, ''),
    (directory) => mkdir(directory, { mode: 0o755 }),
    async () => undefined,
  ];
  for (const trick of tricks) {
    const { challenge, directory } = await begin(world);
    await trick(directory);
    await assert.rejects(post(world, 'finish', { challenge }), refused);
  }
});

test('a challenge is good once, and only one that the head gave', async (t) => {
  const world = await startWorld(t);
  const { challenge, directory } = await begin(world);
  await mkdir(directory, { mode: 0o700 });
  await post(world, 'finish', { challenge });
  await mkdir(directory, { mode: 0o700 });
  await assert.rejects(post(world, 'finish', { challenge }), refused);
  await assert.rejects(post(world, 'finish', { challenge: '0'.repeat(40) }), refused);
  const outside = { challenge: '../../../../tmp' };
  await assert.rejects(post(world, 'finish', outside), { code: 'argument.invalid' });
});

test('a session is worth nothing over the network, and login is not offered there', async (t) => {
  const world = await startWorld(t);
  const { challenge, directory } = await begin(world);
  await mkdir(directory, { mode: 0o700 });
  const { token } = await post(world, 'finish', { challenge });
  const address = { url: world.url, fingerprint: world.http.fingerprint ?? '' };
  const remote = createClient({ address, token: token ?? '' });
  t.after(() => remote.close());
  await assert.rejects(remote.call('whoami'), { code: 'auth.token_invalid' });
  const stranger = createClient({ address });
  t.after(() => stranger.close());
  await assert.rejects(stranger.call('beginLocalLogin', { body: {} }), refused);
});

test('a client whose session a restarted head does not know logs in again by itself', async (t) => {
  const world = await startWorld(t);
  let saved = '';
  const sessions = {
    load: async () => 'ws_00_forgotten',
    save: async ({ token }: { token: string }) => {
      saved = token;
    },
  };
  const client = createClient({ address: { socketPath: world.socketPath }, sessions });
  t.after(() => client.close());
  assert.equal((await client.call('whoami')).uid, process.getuid?.());
  assert.match(saved, /^ws_/);
});

// Seen in the folder, a directory's name would let others finish the login before its maker.
test('the name of a directory does not tell the challenge that it answers', async (t) => {
  const world = await startWorld(t);
  const { challenge, directory } = await begin(world);
  await mkdir(directory, { mode: 0o700 });
  const [name = ''] = path.basename(directory).split('.');
  assert.notEqual(name, challenge);
  await assert.rejects(post(world, 'finish', { challenge: name }), refused);
  assert.match((await post(world, 'finish', { challenge })).token ?? '', /^ws_/);
});

test('a folder of the login that somebody else has put there lets nobody in, and says so', async (t) => {
  const world = await startWorld(t);
  const login = path.join(world.directory, 'login');
  await rmdir(login);
  await writeFile(login, '');
  const words = /login is not a directory; .* Remove it and start again/;
  await assert.rejects(post(world, 'begin', {}), { ...refused, message: words });
});

test('a folder of the login that was tidied away is there again for the next one', async (t) => {
  const world = await startWorld(t);
  await rmdir(path.join(world.directory, 'login'));
  assert.equal((await world.admin.call('whoami')).role, 'admin');
});
