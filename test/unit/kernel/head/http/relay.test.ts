// A relay between a user and the head, as another user has it in a directory of their own: it gets
// neither a session nor the use of one.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type Client,
  createClient,
  type SessionKeeper,
} from '../../../../../src/kernel/api/client.ts';
import { identityAt } from '../../../../../src/kernel/api/held-socket.ts';
import { proofName } from '../../../../../src/kernel/api/local-login.ts';
import { createTransport } from '../../../../../src/kernel/api/transport.ts';
import { startWorld, type World } from './fixture.ts';

const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;
const PROGRAM = path.join(import.meta.dirname, '..', 'support', 'relay.ts');

interface Relay {
  readonly directory: string;
  readonly socketPath: string;
  /** All that went through it so far. */
  seen(): string;
}

/** Starts a relay as another user where the test is root; else as the user itself. */
async function startRelay(t: TestContext, world: World): Promise<Relay> {
  await chmod(world.directory, 0o755);
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-relay-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  if (asRoot) await chown(directory, NOBODY, NOBODY);
  const socketPath = path.join(directory, 'weft.sock');
  const child = spawn(process.execPath, [PROGRAM, socketPath, world.socketPath], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(asRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  let text = '';
  child.stdout.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
  });
  await once(child.stderr, 'data');
  await chmod(socketPath, 0o666);
  return { directory, socketPath, seen: () => text };
}

function clientOf(t: TestContext, socketPath: string, sessions?: SessionKeeper): Client {
  const client = createClient({ address: { socketPath }, sessions });
  t.after(() => client.close());
  return client;
}

async function postThrough(socketPath: string, step: string, body: object) {
  const transport = createTransport({ socketPath });
  try {
    const request = { method: 'POST', path: `/v1/auth/local/${step}`, headers: {} };
    const answer = await transport.peer().send({ ...request, body: JSON.stringify(body) });
    const pieces = await answer.toArray();
    return { status: answer.statusCode, text: Buffer.concat(pieces).toString() };
  } finally {
    transport.close();
  }
}

test('who logs in through a relay proves nothing to the head and leaves nothing behind', async (t) => {
  const world = await startWorld(t);
  const relay = await startRelay(t, world);
  const expected = asRoot ? 'auth.not_the_head' : 'auth.required';
  await assert.rejects(clientOf(t, relay.socketPath).call('whoami'), { code: expected });
  assert.match(relay.seen(), /auth\/local\/begin/);
  assert.doesNotMatch(relay.seen(), /ws_/);
  assert.deepEqual(await readdir(path.join(world.directory, 'login')), []);
});

// Other clients may not look at owners: the head alone refuses what came through another socket.
test('the head takes no proof that was made for the socket of a relay', async (t) => {
  const world = await startWorld(t);
  const relay = await startRelay(t, world);
  const begun = await postThrough(relay.socketPath, 'begin', {});
  const { challenge, path: named } = JSON.parse(begun.text) as Record<string, string>;
  await mkdir(proofName(named ?? '', identityAt(relay.socketPath)), { mode: 0o700 });
  const finished = await postThrough(relay.socketPath, 'finish', { challenge });
  assert.deepEqual([finished.status, /ws_/.test(finished.text)], [401, false]);
  assert.match(finished.text, /reach the head through its own socket/);
});

test('a session of the head is never sent to a relay that took the place of its socket', async (t) => {
  const world = await startWorld(t);
  const relay = await startRelay(t, world);
  const door = path.join(relay.directory, 'door');
  await symlink(world.socketPath, door);
  const kept = new Map<string, string>();
  const sessions: SessionKeeper = {
    load: async (socket) => kept.get(socket) ?? null,
    save: async ({ token }, socket) => void kept.set(socket, token),
  };
  const client = clientOf(t, door, sessions);
  assert.equal((await client.call('whoami')).uid, process.getuid?.());
  await rm(door);
  await symlink(relay.socketPath, door);
  await assert.rejects(client.call('whoami'), { kind: 'unauthenticated' });
  await assert.rejects(clientOf(t, door, sessions).call('whoami'), { kind: 'unauthenticated' });
  assert.match(relay.seen(), /auth\/local\/begin/);
  assert.doesNotMatch(relay.seen(), /ws_/);
});
