// The two lines of a process of a step, over sockets that lose what a closed one has not read.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Api } from '../../../../../src/kernel/connect/api.ts';
import { Lines } from '../../../../../src/wings/steps/head/lines.ts';
import { StepClient } from '../../../../../src/wings/steps/sdk/step-client.ts';
import { Channel } from '../../../../../src/wings/steps/wire/channel.ts';

/** Both ends of connections, as the kernel makes them. */
async function sockets(t: TestContext) {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  return async (): Promise<{ near: Socket; far: Socket }> => {
    const far = connect(port, '127.0.0.1');
    const [near] = (await once(server, 'connection')) as [Socket];
    for (const one of [near, far]) {
      one.on('error', () => undefined);
      t.after(() => one.destroy());
    }
    return { near, far };
  };
}

test('[Z7] the last word of a client reaches a node that is busy telling', async (t) => {
  const open = await sockets(t);
  const lines = new Lines();
  const [client, node] = [await open(), await open()];
  lines.open('42.0:0', 'client', client.near);
  lines.open('42.0:0', 'node', node.near);
  // Nobody takes what the node says, so that it lies unread in the head when the client goes.
  node.far.write(Buffer.alloc(8 << 20));
  const heard: Buffer[] = [];
  await once(client.far, 'readable');
  client.far.write('bye');
  while (client.near.bytesRead < 3) await new Promise((resolve) => setImmediate(resolve));
  client.far.destroy();
  node.far.on('data', (bytes: Buffer) => heard.push(bytes));
  await once(node.far, 'close');
  assert.equal(`${Buffer.concat(heard)}`, 'bye');
});

/** The other end of each line that a client dials. */
async function startClient(t: TestContext, heard: (far: Socket, line: number) => void) {
  const open = await sockets(t);
  let line = 0;
  const dial = async () => {
    const { near, far } = await open();
    line += 1;
    heard(near, line);
    return { stream: far, rest: new Uint8Array() };
  };
  const taken = async (): Promise<void> => undefined;
  const sink = { out: taken, error: taken, note: () => undefined };
  return new StepClient({ dial } as unknown as Api, { id: '42.0', rank: 0 }, sink);
}

test('[Z7] whoever leaves a step says so on the next line when that one is lost', async (t) => {
  const byes: number[] = [];
  const client = await startClient(t, (far, line) => {
    const channel: Channel = new Channel({
      bytes: () => undefined,
      drained: () => undefined,
      joined: () => undefined,
      bye: () => {
        byes.push(line);
        if (line > 1) channel.end();
      },
    });
    channel.open((bytes) => void far.write(bytes));
    far.on('data', (bytes) => {
      channel.feed(bytes);
      if (line === 1 && byes.length > 0) far.destroy();
    });
  });
  client.leave('detached');
  assert.deepEqual(await client.done, { code: 129, why: 'detached' });
  assert.deepEqual(byes, [1, 2]);
});

test('[Z7] whoever leaves twice waits for nobody', async (t) => {
  const dialled = Promise.withResolvers<void>();
  const client = await startClient(t, () => dialled.resolve());
  await dialled.promise;
  client.leave('detached');
  client.leave('detached');
  assert.deepEqual(await client.done, { code: 129, why: 'detached' });
});
