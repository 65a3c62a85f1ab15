// The body of a request: bounded in size and in time.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { readBody } from '../../../../src/head/http/read-body.ts';
import { VirtualClock } from '../../agent/fake-world.ts';

function incoming(): { stream: PassThrough; request: IncomingMessage } {
  const stream = Object.assign(new PassThrough(), { headers: {} });
  return { stream, request: stream as unknown as IncomingMessage };
}

test('a body that does not end is refused after a minute', async () => {
  const clock = new VirtualClock();
  const { stream, request } = incoming();
  const body = readBody(request, clock);
  stream.write('{"a":');
  await clock.advance(60_000);
  const read = await body;
  assert.ok(!read.ok && read.error.code === 'request.malformed');
  assert.match(JSON.stringify(read.error), /longer than 60 s/);
});

test('a body that ends in time is JSON', async () => {
  const clock = new VirtualClock();
  const { stream, request } = incoming();
  const body = readBody(request, clock);
  stream.end('{"a":1}');
  assert.deepEqual(await body, { ok: true, value: { a: 1 } });
});
