// Answers over a unix socket, from Node's own server and from one that says what the test says.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createRaw, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { AnswerParser, type Fields } from '../../../../src/kernel/api/answer-parser.ts';
import type { ByteBody } from '../../../../src/kernel/api/exchange.ts';
import { readText } from '../../../../src/kernel/api/read-text.ts';
import { SocketHttp } from '../../../../src/kernel/api/socket-http.ts';

function socketPath(t: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-socket-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return path.join(directory, 's');
}

async function clientOf(t: TestContext, server: { close(): void }, at: string) {
  const client = new SocketHttp(at);
  t.after(() => {
    client.close();
    server.close();
  });
  const get = (where: string, signal?: AbortSignal) =>
    client.send({ method: 'GET', path: where, headers: {}, signal });
  return { client, get };
}

async function serve(t: TestContext, listener: RequestListener) {
  const at = socketPath(t);
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await once(server.listen(at), 'listening');
  return { ...(await clientOf(t, server, at)), server, connections: () => connections };
}

/** A server that answers each connection's bytes as told. */
async function serveRaw(t: TestContext, answer: (socket: Socket, text: string) => void) {
  const at = socketPath(t);
  const server = createRaw((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => answer(socket, String(bytes)));
  });
  await once(server.listen(at), 'listening');
  return clientOf(t, server, at);
}

const CHUNKED =
  'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\n' +
  'Transfer-Encoding: chunked\r\n\r\n4;x=y\r\nab\r\n\r\nA\r\n0123456789\r\n0\r\nWeft-End: yes\r\n\r\n';

test('an answer is the same in whatever pieces it comes', () => {
  for (const size of [1, 2, 3, 7, CHUNKED.length]) {
    const said: unknown[] = [];
    let body = '';
    const parser = new AnswerParser({
      head: ({ statusCode, headers }) => said.push(statusCode, headers['x-a']),
      body: (piece) => {
        body += piece;
      },
      end: (trailers: Fields) => said.push(trailers['weft-end']),
    });
    for (let at = 0; at < CHUNKED.length; at += size) {
      parser.write(Buffer.from(CHUNKED.slice(at, at + size)));
    }
    assert.deepEqual(
      [...said, body, parser.close()],
      [200, '1, 2', 'yes', 'ab\r\n0123456789', true],
    );
  }
});

test('what is no answer, or does not end where it says, is refused', () => {
  const OK = 'HTTP/1.1 200 OK\r\n';
  const wrong = [
    'SSH-2.0-x\r\n',
    `${OK}no colon\r\n`,
    `${OK}content-length: x\r\n\r\n`,
    `${OK}transfer-encoding: gzip\r\n\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n`,
    `${OK}content-length: 1\r\n\r\nab\r\n`,
    `${OK}x: ${'y'.repeat(70_000)}`,
    `${OK}${'x: y\r\n'.repeat(20_000)}`,
  ];
  for (const text of wrong) {
    const parser = new AnswerParser({ head: () => {}, body: () => {}, end: () => {} });
    assert.throws(
      () => parser.write(Buffer.from(text)),
      /answer cannot be read/,
      text.slice(0, 60),
    );
  }
});

test('requests one after the other share a connection, those at once have their own', async (t) => {
  const { client, get, connections } = await serve(t, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () =>
      response.end(`${request.method} ${request.url} ${Buffer.concat(pieces)}`),
    );
  });
  const body = 'é'.repeat(300_000);
  const posted = await client.send({ method: 'POST', path: '/a', headers: { x: 'y' }, body });
  assert.equal(await readText(posted, ''), `POST /a ${body}`);
  assert.equal(await readText(await get('/b?c=d'), ''), 'GET /b?c=d ');
  assert.equal(connections(), 1);
  const texts = ['/1', '/2', '/3'].map(async (where) => readText(await get(where), ''));
  assert.deepEqual(await Promise.all(texts), ['GET /1 ', 'GET /2 ', 'GET /3 ']);
  assert.equal(connections(), 3);
  for (const path of ['/a b', '/\r\nx: y']) await assert.rejects(get(path), /invalid path/);
  const split = { method: 'GET', path: '/', headers: { x: 'y\r\nz: 1' } };
  await assert.rejects(client.send(split), /invalid header/);
});

test('a connection that the other side closes or has kept long enough is not used again', async (t) => {
  const closing = await serve(t, (_, response) => {
    response.setHeader('connection', 'close');
    response.end('x');
  });
  for (let at = 0; at < 2; at += 1) await readText(await closing.get('/'), '');
  assert.equal(closing.connections(), 2);
  const short = await serve(t, (_, response) => response.end('x'));
  // The server says so, and a second is kept in reserve.
  short.server.keepAliveTimeout = 1000;
  for (let at = 0; at < 2; at += 1) await readText(await short.get('/'), '');
  assert.equal(short.connections(), 2);
});

test('a body is read no faster than its reader reads, and trailers come after it', async (t) => {
  const size = 64 * 1_048_576;
  let sent = 0;
  const { get } = await serve(t, (_, response) => {
    response.writeHead(200, { trailer: 'x-end' });
    const more = (): void => {
      while (sent < size) {
        sent += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
      }
      response.addTrailers({ 'x-end': 'yes' });
      response.end();
    };
    more();
  });
  const answer = await get('/');
  let before = -1;
  while (before !== sent) {
    before = sent;
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  }
  assert.ok(sent < size / 4, `${sent} bytes were taken although nobody read them`);
  let read = 0;
  for await (const piece of answer) read += (piece as Buffer).length;
  assert.deepEqual([read, answer.trailers['x-end']], [size, 'yes']);
});

test('a body is sent as it is read, and no further than it is wanted', async (t) => {
  const { client, connections } = await serve(t, (request, response) => {
    if (request.url === '/refused') return void response.writeHead(400).end('no');
    let size = 0;
    request.on('data', (piece: Buffer) => {
      size += piece.length;
    });
    request.on('end', () => response.end(`${size} of ${request.headers['content-length']}`));
  });
  let opened = 0;
  const bytes = (length: number) => ({
    length,
    open: () => {
      opened += 1;
      return Readable.from(Array.from({ length: length / 65_536 }, () => Buffer.alloc(65_536)));
    },
  });
  const put = (path: string, body: ByteBody) =>
    client.send({ method: 'PUT', path, headers: {}, body });
  const large = 16 * 1_048_576;
  assert.equal(await readText(await put('/', bytes(large)), ''), `${large} of ${large}`);
  assert.equal(await readText(await put('/', bytes(0)), ''), '0 of 0');
  assert.equal(connections(), 1);
  const refused = await put('/refused', bytes(large));
  assert.deepEqual([refused.statusCode, await readText(refused, '')], [400, 'no']);
  assert.equal(await readText(await put('/', bytes(65_536)), ''), '65536 of 65536');
  assert.deepEqual([connections(), opened], [2, 4], 'half a request leaves a connection of no use');
  const failing = {
    length: 9,
    open: () =>
      new Readable({
        read() {
          this.destroy(new Error('the disk is gone'));
        },
      }),
  };
  await assert.rejects(put('/', failing), /the disk is gone/);
});

/** Bodies in pieces that all lie in one block, and how many of them are still being sent. */
function reusing(count: number, fails: Error | null = null) {
  const block = Buffer.alloc(65_536);
  const state = { asked: 0, open: 0 };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    state.open += 1;
    try {
      for (let at = 0; at < count; at += 1) {
        state.asked += 1;
        yield block.fill(at);
      }
      if (fails !== null) throw fails;
    } finally {
      state.open -= 1;
    }
  }
  const open = (): never => assert.fail('a body that has pieces is sent by them');
  return { state, body: { length: count * block.length, open, pieces } };
}

test('a piece of a body is asked for only when the system has taken the last one', async (t) => {
  const { client, server, connections } = await serve(t, (request, response) => {
    if (request.url === '/refused') return void response.writeHead(400).end('no');
    if (request.url === '/never') return;
    const got: Buffer[] = [];
    request.on('data', (piece: Buffer) => got.push(piece));
    request.on('end', () => {
      const whole = Buffer.concat(got);
      const flaw = whole.findIndex((byte, at) => byte !== Math.floor(at / 65_536));
      response.end(`${whole.length} bytes, the first wrong one: ${flaw}`);
    });
  });
  const put = (where: string, body: ByteBody, signal?: AbortSignal) =>
    client.send({ method: 'PUT', path: where, headers: {}, body, signal });
  const whole = reusing(200);
  const said = await readText(await put('/', whole.body), '');
  assert.equal(said, `${200 * 65_536} bytes, the first wrong one: -1`);
  assert.equal(
    await readText(await put('/', reusing(0).body), ''),
    '0 bytes, the first wrong one: -1',
  );
  assert.equal(connections(), 1);
  const refused = reusing(200);
  assert.equal((await put('/refused', refused.body)).statusCode, 400);
  const stopped = new AbortController();
  const cut = reusing(200);
  const sending = put('/never', cut.body, stopped.signal);
  await once(server, 'request');
  stopped.abort();
  await assert.rejects(sending, { code: 'ABORT_ERR' });
  await assert.rejects(put('/', reusing(3, new Error('the disk is gone')).body), /disk is gone/);
  while (refused.state.open + cut.state.open > 0) await new Promise(setImmediate);
  assert.ok(refused.state.asked < 200 && cut.state.asked < 200);
});

test('an answer that breaks off rejects whoever waits for it or reads it', async (t) => {
  const half = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf';
  const { get } = await serveRaw(t, (socket, text) => {
    if (text.startsWith('GET /none')) return void socket.destroy();
    if (text.startsWith('GET /wrong')) return void socket.write('SSH-2.0-x\r\n');
    socket.end(half);
  });
  await assert.rejects(get('/none'), { code: 'ECONNRESET' });
  await assert.rejects(get('/wrong'), /the answer cannot be read: it is no HTTP/);
  await assert.rejects(readText(await get('/half'), 'h'), { code: 'head.unreachable' });
  const answer = await get('/half');
  await assert.rejects(async () => {
    for await (const _ of answer);
  });
});

test('a body without a length ends with its connection', async (t) => {
  const { get } = await serveRaw(t, (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
  assert.equal(await readText(await get('/'), ''), 'all of it');
});

test('what is aborted ends at once, before and within its answer', async (t) => {
  const { get, server } = await serve(t, (request, response) => {
    if (request.url === '/never') return;
    response.write('some');
  });
  const before = new AbortController();
  const waiting = get('/never', before.signal);
  const [never] = await once(server, 'request');
  before.abort();
  await assert.rejects(waiting, { code: 'ABORT_ERR' });
  await once(never.socket, 'close');
  await assert.rejects(get('/never', AbortSignal.abort()), { code: 'ABORT_ERR' });
  const within = new AbortController();
  const answer = await get('/some', within.signal);
  const read = assert.rejects(readText(answer, ''));
  within.abort();
  await read;
  const left = await get('/some');
  left.destroy();
  assert.equal(left.destroyed, true);
});

test('a socket that is not there, or that nobody listens on, rejects with its error', async (t) => {
  const client = new SocketHttp(socketPath(t));
  const sent = client.send({ method: 'GET', path: '/', headers: {} });
  await assert.rejects(sent, { code: 'ENOENT' });
});
