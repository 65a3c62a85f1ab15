// Dialling a head: over a unix socket, and over TLS to exactly the pinned certificate.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { WebSocketServer } from 'ws';
import { headDialer } from '../../../../src/kernel/os/dialer.ts';
import { urlOf } from '../../../../src/kernel/os/head-stream.ts';

const root = mkdtempSync(join(tmpdir(), 'weft-dial-'));
const key = join(root, 'key.pem');
const cert = join(root, 'cert.pem');
const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
execFileSync(
  'openssl',
  [...request, '-nodes', '-keyout', key, '-out', cert, '-subj', '/CN=head', '-days', '2'],
  { stdio: 'ignore' },
);
const fingerprint = createHash('sha256')
  .update(new X509Certificate(readFileSync(cert)).raw)
  .digest('hex');
/** A fingerprint of no certificate here: its first digit differs. */
const another = `${fingerprint.startsWith('0') ? '1' : '0'}${fingerprint.slice(1)}`;

const seen: IncomingMessage[] = [];
const sockets = new WebSocketServer({ noServer: true });
const servers = [
  createHttp(),
  createHttps({ key: readFileSync(key), cert: readFileSync(cert) }),
] as const;
for (const server of servers) {
  server.on('upgrade', (incoming, socket, head) => {
    seen.push(incoming);
    sockets.handleUpgrade(incoming, socket, head, (link) => {
      link.on('message', (data) => link.send(data));
    });
  });
}
const socketPath = join(root, 'head.sock');
servers[0].listen(socketPath);
servers[1].listen(0, '127.0.0.1');
await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
const url = `https://127.0.0.1:${(servers[1].address() as AddressInfo).port}`;
after(() => {
  for (const link of sockets.clients) link.terminate();
  for (const server of servers) server.close();
  rmSync(root, { recursive: true });
});

async function echo(head: Parameters<typeof headDialer>[0]['head']): Promise<string> {
  const own = { name: 'n1', secret: 's3cret', messageBytesMax: 1000 };
  const session = await headDialer({ ...own, head }).dial();
  const answer = new Promise<Uint8Array>((resolve) => session.onMessage(resolve));
  session.send(Buffer.from('hello'));
  const text = Buffer.from(await answer).toString();
  const closed = new Promise<string>((resolve) => session.onClose(resolve));
  session.close('done');
  await closed;
  return text;
}

test('a unix socket carries whole messages both ways, with the node named', async () => {
  assert.equal(await echo({ socketPath }), 'hello');
  assert.equal(seen.at(-1)?.headers.authorization, 'Node n1:s3cret');
  assert.equal(seen.at(-1)?.url, '/v1/agent');
});

test('the pinned certificate is accepted, in either way of writing it', async () => {
  assert.equal(await echo({ url, fingerprint }), 'hello');
  const colons = fingerprint.toUpperCase().replace(/(..)(?=.)/g, '$1:');
  assert.equal(await echo({ url, fingerprint: colons }), 'hello');
});

test('another certificate is refused before the secret is sent', async () => {
  const before = seen.length;
  await assert.rejects(
    echo({ url, fingerprint: another }),
    new RegExp(`shows certificate .* expected ${another.slice(0, 8)}`),
  );
  assert.equal(seen.length, before);
});

test('without a pin a certificate that nobody vouches for is refused', async () => {
  const before = seen.length;
  await assert.rejects(echo({ url }), /self-signed|certificate/i);
  assert.equal(seen.length, before);
});

test('nobody listening is an error in words', async () => {
  await assert.rejects(echo({ socketPath: join(root, 'nothing') }), /ENOENT/);
});

test('a head that knows the secret no more: the agent says how the node comes back', async (t) => {
  const head = createHttp();
  t.after(() => head.close());
  head.on('upgrade', (_, socket) => {
    socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n');
  });
  const socketPath = join(root, 'knows-nobody.sock');
  await once(head.listen(socketPath), 'listening');
  await assert.rejects(echo({ socketPath }), /401: unknown secret; .* `weft join --again`/);
});

test('a head that takes the connection and never answers is given up', async (t) => {
  const silent = createHttps({ key: readFileSync(key), cert: readFileSync(cert) });
  // Without a listener for it a request is read and never answered.
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => {
    silent.close();
    silent.closeAllConnections();
  });
  const head = { url: `https://127.0.0.1:${(silent.address() as AddressInfo).port}`, fingerprint };
  const own = { name: 'n1', secret: 's3cret', messageBytesMax: 1000, timeoutMs: 300 };
  await assert.rejects(headDialer({ ...own, head }).dial(), /no answer from the head within 300ms/);
});

test('a head is dialled by each of its addresses in turn, and first where it answered last', async () => {
  const silent = createHttps();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const gone = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  silent.close();
  await once(silent, 'close');
  const head = { url: 'https://nowhere.invalid:1', others: [gone, url], fingerprint };
  assert.equal(await echo(head), 'hello');
  assert.equal(urlOf(head), url);
  assert.equal(await echo(head), 'hello');
});

test('no address of a head answers: each is named', async () => {
  const pinned = { fingerprint: another };
  const head = { url: 'https://127.0.0.1:1', others: [url], ...pinned };
  await assert.rejects(echo(head), /ECONNREFUSED.*; .*shows certificate/);
});
