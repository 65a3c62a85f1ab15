// The port of a head: the wanted one, or where another will do a free one nearby.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type TestContext, test } from 'node:test';
import { listen, listenNear } from '../../../../../src/kernel/head/http/listening.ts';

const host = '127.0.0.1';

function server(t: TestContext): Server {
  const made = createServer();
  t.after(() => made.close());
  return made;
}

test('a port that is taken is refused, and by who may look around left for another', async (t) => {
  const port = await listen(server(t), { host, port: 0 });
  const second = server(t);
  await assert.rejects(listen(second, { host, port }), { code: 'EADDRINUSE' });
  const near = await listenNear(second, { host, port });
  assert.notEqual(near, port);
  assert.deepEqual(second.address(), { address: host, family: 'IPv4', port: near });
});

test('who may look around takes the wanted port where it is free, and any for none', async (t) => {
  const first = createServer();
  const port = await listen(first, { host, port: 0 });
  await new Promise((resolve) => first.close(resolve));
  assert.equal(await listenNear(server(t), { host, port }), port);
  assert.notEqual(await listenNear(server(t), { host, port: 0 }), 0);
});

test('the last ports and those of root are no end of the search', async (t) => {
  await listen(server(t), { host, port: 65_535 }).catch(() => 'taken by another program');
  const found = await listenNear(server(t), { host, port: 65_535 });
  assert.ok(found > 0 && found < 65_535);
});

test('an address that is not of this machine is refused at once', async (t) => {
  const where = { host: '192.0.2.1', port: 5001 };
  await assert.rejects(listenNear(server(t), where), { code: 'EADDRNOTAVAIL' });
});

test('a server that is refused many ports is left without listeners of them', async (t) => {
  const port = await listen(server(t), { host, port: 0 });
  const second = server(t);
  const before = second.listenerCount('listening');
  for (let time = 0; time < 12; time += 1) await listen(second, { host, port }).catch(() => 0);
  assert.deepEqual([second.listenerCount('listening'), second.listenerCount('error')], [before, 0]);
});
