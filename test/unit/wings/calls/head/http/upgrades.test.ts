// Connections that become WebSockets: who is turned away before that.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { CALL_CLIENTS_MAX } from '../../../../../../src/wings/calls/head/calls.ts';
import { openCalls } from '../../../../../../src/wings/calls/head/upgrades.ts';
import { startAgent, startWorld } from '../../../../kernel/head/http/fixture.ts';

test('a pool that has all the programs that it takes refuses more', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('startPool', { body: { max: 1 } });
  const { engine } = world.head;
  let opened = 0;
  const pool = { clients: CALL_CLIENTS_MAX };
  const calls = {
    of: () => pool,
    openClient: () => {
      opened += 1;
    },
  };
  const services = { engine, calls } as never;
  const socket = new PassThrough();
  const name = (await world.admin.call('whoami')).name;
  const actor = { kind: 'user', name, uid: 0, role: 'admin' } as const;
  const principal = { kind: 'user', actor } as never;
  const incoming = { headers: {} } as never;
  const upgrade = { socket, head: Buffer.alloc(0), incoming, principal };
  openCalls(services, { ...upgrade, params: { id: String(jobId) } });
  assert.match(String(socket.read()), /429 .*pool\.too_many_clients/s);
  pool.clients -= 1;
  openCalls(services, { ...upgrade, params: { id: String(jobId) } });
  assert.equal(opened, 1);
});
