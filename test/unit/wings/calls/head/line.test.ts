// Lines of calls at the head: what was said before a goodbye counts, though it is read after it.

import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import type {
  ClientToRouter,
  RouterToClient,
} from '../../../../../src/wings/calls/core/messages.ts';
import { RouterLine } from '../../../../../src/wings/calls/head/line.ts';
import { Slices } from '../../../../../src/wings/calls/head/slices.ts';
import {
  CLIENT_TO_ROUTER,
  ROUTER_TO_CLIENT,
} from '../../../../../src/wings/calls/wire/call-frames.ts';
import { CallStream } from '../../../../../src/wings/calls/wire/call-stream.ts';

const rest = Buffer.alloc(0);
const clock = { monotonic: () => performance.now() };

test('[C21] what came before a goodbye is heard, and the end of the line after it', async () => {
  const [here, there] = duplexPair();
  const heard: string[] = [];
  const gone = Promise.withResolvers<void>();
  const speech = { reads: CLIENT_TO_ROUTER, writes: ROUTER_TO_CLIENT, isClient: false };
  const world = { slices: new Slices(clock), clock };
  const line = new RouterLine<ClientToRouter, RouterToClient>(
    { stream: here, rest },
    speech,
    world,
  );
  const take = (messages: readonly ClientToRouter[]) => {
    heard.push(...messages.map(({ kind }) => kind));
  };
  line.open({ take, refuse: assert.fail, gone: () => heard.push('gone') }, gone.resolve);
  const said = { reads: ROUTER_TO_CLIENT, writes: CLIENT_TO_ROUTER, isClient: true };
  const nothing = () => undefined;
  const events = { arrived: nothing, broken: nothing, gone: nothing };
  const client = new CallStream<RouterToClient, ClientToRouter>(
    { stream: there, rest },
    said,
    events,
  );
  client.send({ kind: 'ping' });
  client.flush();
  client.send({ kind: 'ping' });
  client.close();
  await gone.promise;
  assert.deepEqual(heard, ['ping', 'ping', 'gone']);
});
