// The agents' socket: how it ends when the other side does not answer.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { AgentSockets } from '../../../../../src/kernel/head/http/side.ts';
import { eventually } from './fixture.ts';

test('a node that does not answer the goodbye is cut off, and nobody waits for it', async (t) => {
  const closed: string[] = [];
  let accepted = 0;
  const sockets = new AgentSockets((session) => {
    accepted += 1;
    session.onClose((why) => closed.push(why));
  });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head, 'n1'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const node = new WebSocket(`ws://127.0.0.1:${port}`);
  t.after(() => node.terminate());
  await new Promise((resolve) => node.once('open', resolve));
  await eventually(() => accepted === 1);
  node.pause(); // As a machine that hangs: it reads nothing, not even the goodbye.
  sockets.closeAll('the head is stopping');
  await eventually(() => closed.length === 1);
  assert.deepEqual(closed, ['the head is stopping']);
});
