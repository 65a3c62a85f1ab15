// Connections that send half of a header, or nothing: they end in time, keep no descriptor of the
// head, and are bounded by address.

import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import { createClient } from '../../../../../src/kernel/api/client.ts';
import {
  LOCAL_NEWCOMERS_MAX,
  NEWCOMERS_PER_ADDRESS_MAX,
} from '../../../../../src/kernel/model/limits.ts';
import { eventually, startWorld, type World } from './fixture.ts';

const HALF = 'GET / HTTP/1.1\r\nhost: x\r\nx-half: ';

type Dial = () => Socket;

/** `allowHalfOpen`: never closes its side by itself, as who wants to keep the head busy would. */
function waysIn(world: World, allowHalfOpen: boolean): readonly Dial[] {
  const remote = { host: '127.0.0.1', port: world.http.port ?? 0, allowHalfOpen };
  return [
    () => connect({ path: world.socketPath, allowHalfOpen }, sendHalf),
    () => connectSecurely({ ...remote, rejectUnauthorized: false }, sendHalf),
    () => connect(remote),
  ];
}

function sendHalf(this: Socket): void {
  this.write(HALF);
}

/** Both ends are in this process: the head's are what is there beside our own. */
function openSockets(): number {
  return readdirSync('/proc/self/fd').filter((name) => linkOf(name).startsWith('socket:')).length;
}

function linkOf(name: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    return ''; // The one that listed them.
  }
}

function dialMany(t: TestContext, dial: Dial, count: number): Socket[] {
  const sockets = Array.from({ length: count }, () => {
    const socket = dial();
    socket.on('error', () => socket.destroy());
    socket.resume();
    return socket;
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

test('whoever sends half a header or nothing keeps no descriptor, closed or not', async (t) => {
  const world = await startWorld(t, { headersMs: 200 });
  for (const dial of waysIn(world, true)) {
    const before = openSockets();
    const sockets = dialMany(t, dial, 40);
    // The head has ended its side: from here on it may keep nothing.
    await eventually(() => sockets.every((each) => each.readableEnded || each.destroyed));
    await eventually(() => {
      const ours = sockets.filter(({ destroyed }) => !destroyed).length;
      return openSockets() <= before + ours;
    });
    for (const socket of sockets) socket.destroy();
    await eventually(() => openSockets() <= before);
  }
});

test('strangers of one address hold a bounded number of connections, and keep nobody out', async (t) => {
  const world = await startWorld(t, { headersMs: 60_000 });
  const bob = await world.client('bob');
  for (const [at, dial] of waysIn(world, false).entries()) {
    const max = at === 0 ? LOCAL_NEWCOMERS_MAX : NEWCOMERS_PER_ADDRESS_MAX;
    const sockets = dialMany(t, dial, max + 44);
    await eventually(() => sockets.filter(({ destroyed }) => destroyed).length >= 44);
    const open = sockets.filter(({ destroyed }) => !destroyed);
    assert.ok(open.length > max - 56, `${open.length} of ${max} are left`);
    // One that has proven who it is does not count.
    assert.equal((await bob.call('whoami')).name, 'bob');
    for (const socket of sockets) socket.destroy();
  }
  assert.equal((await world.admin.call('whoami')).role, 'admin');
});

// More than the bound of one address, and than the kernel keeps of a listener by default.
test('clients of one machine that come back at once by the hundred all get through', async (t) => {
  const world = await startWorld(t);
  const clients = Array.from({ length: 600 }, () =>
    createClient({ address: { socketPath: world.socketPath } }),
  );
  t.after(() => {
    for (const client of clients) client.close();
  });
  const answers = await Promise.allSettled(clients.map((client) => client.call('whoami')));
  const failed = answers.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  assert.deepEqual(failed.slice(0, 3), []);
});
