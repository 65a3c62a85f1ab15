// Bodies that are compressed on their way: what pays, what breaks them, and what a hostile one may
// cost.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import zlib from 'node:zlib';
import {
  CODING_HEADER,
  compressed,
  decompressed,
  pays,
  READS_HEADER,
} from '../../../../src/kernel/api/coding.ts';
import { coded, codingOf, codingsFor, plainBody } from '../../../../src/kernel/head/http/coding.ts';

const TEXT = Buffer.from('the same line again\n'.repeat(10_000));

test('[F17] what repeats itself pays, noise and a few bytes do not', () => {
  assert.equal(pays(TEXT), true);
  assert.equal(pays(randomBytes(100_000)), false);
  assert.equal(pays(TEXT.subarray(0, 1000)), false);
  assert.equal(pays(new Uint8Array()), false);
});

test('[F17] what was compressed comes back as it was, and less crosses the line', async () => {
  const small = await compressed(Readable.from([TEXT])).toArray();
  assert.ok(Buffer.concat(small).length < TEXT.length / 10);
  const back = await decompressed(Readable.from(small)).toArray();
  assert.ok(Buffer.concat(back).equals(TEXT));
});

test('[F17] a body that is cut off, is none, or wants a large window breaks; its source, too', async () => {
  const whole = zlib.zstdCompressSync(TEXT);
  const cut = Readable.from([whole.subarray(0, whole.length - 5)]);
  await assert.rejects(decompressed(cut).toArray());
  const none = Readable.from([TEXT]);
  await assert.rejects(decompressed(none).toArray());
  assert.equal(none.destroyed, true);
  const { ZSTD_c_windowLog } = zlib.constants;
  const greedy = zlib.createZstdCompress({ params: { [ZSTD_c_windowLog]: 20 } });
  const wide = Readable.from([randomBytes(1000)]).pipe(greedy);
  await assert.rejects(decompressed(wide).toArray(), /window|memory/i);
});

/** A server on one address of this machine, asked from another one as from another machine. */
async function ask(
  t: TestContext,
  serve: (incoming: IncomingMessage, response: ServerResponse) => void,
  { from, headers = {}, body }: { from: string; headers?: Record<string, string>; body?: Buffer },
): Promise<{ head: IncomingMessage; said: string }> {
  const server = createServer(serve).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asking = request({ host: '127.0.0.1', port, localAddress: from, method: 'POST', headers });
  asking.end(body);
  const [head] = (await once(asking, 'response')) as [IncomingMessage];
  const plain = head.headers[CODING_HEADER] === undefined ? head : decompressed(head);
  return { head, said: await text(plain) };
}

test('[F17] an answer is compressed for another machine that reads it, and for no other', async (t) => {
  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    const call = { incoming, local: false };
    assert.deepEqual(codingsFor({ incoming, local: true }), []);
    void codingOf(call, () => TEXT).then((coding) => {
      if (coding !== null) response.setHeader(CODING_HEADER, coding);
      coded(coding, Readable.from([TEXT])).pipe(response);
    });
  };
  const reads = { [READS_HEADER]: 'zstd' };
  const far = await ask(t, serve, { from: '127.0.0.2', headers: reads });
  assert.equal(far.head.headers[CODING_HEADER], 'zstd');
  assert.equal(far.said, TEXT.toString());
  const silent = await ask(t, serve, { from: '127.0.0.2' });
  assert.equal(silent.head.headers[CODING_HEADER], undefined);
  assert.equal(silent.said, TEXT.toString());
  const near = await ask(t, serve, { from: '127.0.0.1', headers: reads });
  assert.equal(near.head.headers[CODING_HEADER], undefined);
});

test('[F17] a compressed body is read as its sender had it; a coding that is not known is refused', async (t) => {
  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    const body = plainBody({ incoming }, incoming);
    if (!body.ok) return void response.end(body.error.code);
    text(body.value)
      .then((all) => response.end(all))
      .catch(() => response.end('broken'));
  };
  const sent = (coding: string, body: Buffer) =>
    ask(t, serve, { from: '127.0.0.2', headers: { [CODING_HEADER]: coding }, body });
  assert.equal((await sent('zstd', zlib.zstdCompressSync(TEXT))).said, TEXT.toString());
  assert.equal((await sent('zstd', TEXT)).said, 'broken');
  assert.equal((await sent('gzip', TEXT)).said, 'argument.invalid');
});
