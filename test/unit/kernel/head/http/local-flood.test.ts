// A local user who floods the head's socket, with connections or with requests, and whether others
// still get in. The flood is another user's, so that only root can try it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { LOCAL_NEWCOMERS_MAX } from '../../../../../src/kernel/model/limits.ts';
import { ensureLauncher } from '../../../../../src/kernel/os/launcher-build.ts';
import { uidsByLauncher } from '../../../../../src/kernel/os/unix-peers.ts';
import { startWorld, type World } from './fixture.ts';

const NOBODY = 65_534;
const skip = process.getuid?.() === 0 ? false : 'needs root';
const PROGRAM = path.join(import.meta.dirname, '..', 'support', 'flood.ts');

const folder = await mkdtemp(path.join(tmpdir(), 'weft-flood-'));
after(() => rm(folder, { recursive: true, force: true }));
const launcher = ensureLauncher(folder).then(({ kind, command }) =>
  kind === 'c' ? command : null,
);

/** In it no connection grows old, and no allowance grows. */
async function stillWorld(t: TestContext): Promise<World> {
  const clock = { monotonic: () => 0 };
  const world = await startWorld(t, { clock, uidsOf: uidsByLauncher(launcher) });
  await chmod(world.directory, 0o755);
  return world;
}

/** Comes back when all that was asked is answered, and all connections are there. */
async function flood(t: TestContext, world: World, connections: number, requests: number) {
  const args = [PROGRAM, world.socketPath, String(connections), String(requests)];
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const child = spawn(process.execPath, args, { stdio: [...stdio], uid: NOBODY, gid: NOBODY });
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const [said] = (await once(child.stderr, 'data')) as [Buffer];
  assert.equal(String(said), 'all\n');
}

test('[D6] who holds all connections of the socket makes room for another user', {
  skip,
}, async (t) => {
  const world = await stillWorld(t);
  await flood(t, world, LOCAL_NEWCOMERS_MAX + 100, 0);
  assert.equal((await world.admin.call('whoami')).role, 'admin');
});

test('[D6] who asks without an end leaves others their share of requests', { skip }, async (t) => {
  const world = await stillWorld(t);
  await flood(t, world, 200, 30);
  assert.equal((await world.admin.call('whoami')).role, 'admin');
});
