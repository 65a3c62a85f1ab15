// What comes in broken, too large or too often, and what a stranger on the wire can do.

import assert from 'node:assert/strict';
import { tracingChannel } from 'node:diagnostics_channel';
import { connect, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { createClient } from '../../../../../src/kernel/api/client.ts';
import {
  OPEN_REQUEST_BYTES_MAX,
  REQUEST_BYTES_MAX,
} from '../../../../../src/kernel/model/limits.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

/** A clock by which no allowance grows meanwhile. */
const STANDS_STILL = { monotonic: () => 0 };

/** Everything that comes back until the other side closes. */
function talk(socket: Socket, text: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      answer += piece;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', () => socket.destroy());
    socket.write(text);
  });
}

test('garbage on either listener disturbs nobody', async (t) => {
  const world = await startWorld(t);
  const garbage = ['GARBAGE\r\n\r\n', '\0'.repeat(5000), 'GET / HTTP/1.1\r\nbad header\r\n\r\n'];
  for (const text of garbage) {
    const broken = await talk(connect(world.socketPath), text);
    assert.match(broken, /^HTTP\/1\.1 400 .*request\.malformed/s);
    const port = world.http.port ?? 0;
    await talk(connect(port, '127.0.0.1'), text);
  }
  assert.equal((await world.admin.call('health')).status, 'ok');
});

test('a request that is too large is refused at once and the connection closed', async (t) => {
  const world = await startWorld(t);
  const announced = `POST /v1/auth/local/begin HTTP/1.1\r\nhost: x\r\ncontent-length: ${REQUEST_BYTES_MAX + 1}\r\n\r\n`;
  const first = await talk(connect(world.socketPath), announced);
  assert.match(first, /^HTTP\/1\.1 400 .*connection: close.*request\.too_large/is);
  const chunked =
    'POST /v1/auth/local/begin HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
  const size = REQUEST_BYTES_MAX + 1;
  const text = `${chunked}${size.toString(16)}\r\n${' '.repeat(size)}`;
  assert.match(await talk(connect(world.socketPath), text), /request\.too_large/);
});

test('[D17] without credentials a body has some KiB, and none is read of what needs them', async (t) => {
  const world = await startWorld(t);
  const size = OPEN_REQUEST_BYTES_MAX + 1;
  for (const path of ['/v1/ui/login', '/v1/auth/local/begin', '/v1/auth/local/finish']) {
    const announced = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${size}\r\n\r\n`;
    const answer = await talk(connect(world.socketPath), announced);
    assert.match(answer, /connection: close.*request\.too_large.*16K/is);
    const chunked = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n`;
    const text = `${chunked}${size.toString(16)}\r\n${' '.repeat(size)}`;
    assert.match(await talk(connect(world.socketPath), text), /request\.too_large/);
  }
  // Nothing of the body is ever sent.
  const job = 'POST /v1/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n';
  assert.match(await talk(connect(world.socketPath), job), /^HTTP\/1\.1 401 .*connection: close/is);
});

// Closed at once, the connection would fail the next write, and with it the client.
test('a client that goes on sending after a refusal still gets the answer', async (t) => {
  const world = await startWorld(t);
  const socket = connect(world.socketPath);
  const head = 'POST /v1/auth/local/begin HTTP/1.1\r\nhost: x\r\n';
  const answered = talk(socket, `${head}content-length: ${REQUEST_BYTES_MAX + 1}\r\n\r\n`);
  const piece = Buffer.alloc(65_536, ' ');
  let failure: Error | null = null;
  socket.on('error', (error) => {
    failure = error;
  });
  // The answer is on its way by then; a client that does not look at it notices nothing.
  await new Promise((resolve) => socket.once('readable', resolve));
  socket.pause();
  for (let sent = 0; sent < 20 * piece.length; sent += piece.length) {
    await new Promise((resolve) => socket.write(piece, resolve));
  }
  socket.resume();
  assert.match(await answered, /request\.too_large/);
  assert.equal(failure, null);
});

test('a body that is no JSON is refused with the word that is wrong', async (t) => {
  const world = await startWorld(t);
  const body = '{"challenge": }';
  const head = `POST /v1/auth/local/finish HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  const answer = await talk(connect(world.socketPath), head + body);
  assert.match(answer, /request\.malformed.*Unexpected token '}'/s);
});

test('too many requests of one user are refused, others go on', async (t) => {
  const world = await startWorld(t, { requestRateMax: 20, clock: STANDS_STILL });
  const alice = await world.client('alice');
  const bob = await world.client('bob');
  const results = await Promise.allSettled(Array.from({ length: 40 }, () => alice.call('whoami')));
  const refusals = results.filter(({ status }) => status === 'rejected');
  assert.equal(refusals.length, 20);
  for (const refusal of refusals) {
    assert.equal((refusal as PromiseRejectedResult).reason.code, 'rate.exceeded');
  }
  assert.equal((await bob.call('whoami')).name, 'bob');
});

test('guesses at tokens from one address run dry', async (t) => {
  const world = await startWorld(t, { clock: STANDS_STILL });
  const address = { url: world.url, fingerprint: world.http.fingerprint ?? '' };
  const guesser = createClient({ address, token: 'wt_000000_guess' });
  t.after(() => guesser.close());
  const codes = new Set<string>();
  for (let at = 0; at < 700; at += 50) {
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, () => guesser.call('whoami')),
    );
    for (const result of results) {
      if (result.status === 'rejected') codes.add(result.reason.code);
    }
  }
  assert.deepEqual([...codes].sort(), ['auth.token_invalid', 'rate.exceeded']);
});

test('a node that dials in a circle is refused for a while, and others are not', async (t) => {
  const world = await startWorld(t, { clock: STANDS_STILL });
  const dial = async (name: string, secret: string): Promise<number> => {
    const socket = new WebSocket(`ws+unix:${world.socketPath}:/v1/agent`, {
      headers: { authorization: `Node ${name}:${secret}` },
    });
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode));
      socket.once('open', () => {
        socket.terminate();
        resolve(101);
      });
    });
  };
  const [mad, calm] = await Promise.all(
    ['n1', 'n2'].map((name) => world.admin.call('createNode', { body: { name } })),
  );
  const answers: number[] = [];
  for (let at = 0; at < 25; at += 1) answers.push(await dial('n1', mad?.secret ?? ''));
  assert.deepEqual(answers, [...Array(20).fill(101), ...Array(5).fill(429)]);
  assert.equal(await dial('n2', calm?.secret ?? ''), 101);
});

test('a local connection that floods without credentials keeps nobody from a login', async (t) => {
  const world = await startWorld(t, { clock: STANDS_STILL });
  const request = 'GET /v1/whoami HTTP/1.1\r\nhost: x\r\n\r\n';
  const last = 'GET /v1/whoami HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  const answers = await talk(connect(world.socketPath), request.repeat(2999) + last);
  assert.equal(answers.match(/rate\.exceeded/g)?.length, 2970);
  assert.equal((await world.admin.call('whoami')).role, 'admin');
});

test('a certificate other than the pinned one gets no token', async (t) => {
  const world = await startWorld(t);
  const address = { url: world.url, fingerprint: 'ab'.repeat(32) };
  const client = createClient({ address, token: 'wt_secret_secret' });
  t.after(() => client.close());
  await assert.rejects(client.call('whoami'), { code: 'auth.fingerprint_mismatch' });
  assert.equal(world.audit.lines.length, 0);
});

test('an agent without the right secret gets no session', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  for (const authorization of [
    'Node n1:wrong',
    'Node n7:x',
    `Bearer ${await world.token('bob')}`,
  ]) {
    const socket = new WebSocket(`ws+unix:${world.socketPath}:/v1/agent`, {
      headers: { authorization },
    });
    const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
    assert.match(error.message, /40[13]/);
  }
});

test('a node that is admitted anew loses its old session', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  await world.admin.call('createNode', { body: { name: 'n1', replace: true } });
  await eventually(() => agent.socket.readyState === WebSocket.CLOSED);
  const { state } = await world.admin.call('getNode', { params: { name: 'n1' } });
  assert.notEqual(state, 'up');
});

test('changes are in the audit log with who and what, and without secrets', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const bob = await world.client('bob');
  const { jobId } = await bob.call('submitJob', {
    body: { ...TRUE, environment: { PASSWORD: 'hush' }, held: true },
  });
  await bob.call('cancelJob', { params: { id: String(jobId) } });
  await assert.rejects(bob.call('drainNode', { params: { name: 'n1' }, body: { reason: 'x' } }));
  const lines = world.audit.lines.map(({ fields }) => fields).filter(({ who }) => who === 'bob');
  assert.deepEqual(
    lines.map(({ what, result, id, name }) => [what, result, id ?? name ?? null]),
    [
      ['submitJob', 'ok', null],
      ['cancelJob', 'ok', String(jobId)],
      ['drainNode', 'auth.role_needed', 'n1'],
    ],
  );
  const all = JSON.stringify(world.audit.lines);
  assert.ok(!/hush|w[tjs]_/.test(all), all);
});

test('a join token admits a node once per name, and its secret opens a session', async (t) => {
  const world = await startWorld(t, { ownAddresses: ['127.0.0.1', '::7'] });
  const { token, fingerprint, addresses } = await world.admin.call('createJoinToken', { body: {} });
  assert.equal(fingerprint, world.http.fingerprint);
  const { port } = world.http;
  assert.deepEqual(addresses, [`127.0.0.1:${port}`, `[::7]:${port}`], 'also where no DNS is');
  const address = { url: world.url, fingerprint: fingerprint ?? '' };
  const joiner = createClient({ address, token });
  t.after(() => joiner.close());
  const body = { name: 'n5', labels: ['desk'] };
  const { secret } = await joiner.call('join', { body });
  await assert.rejects(joiner.call('join', { body }), { code: 'node.name_taken' });
  const socket = new WebSocket(`ws+unix:${world.socketPath}:/v1/agent`, {
    headers: { authorization: `Node n5:${secret}` },
  });
  await new Promise((resolve) => socket.once('open', resolve));
  socket.terminate();
});

test('a listener has somebody who answers before it opens', async (t) => {
  const deaf: Server[] = [];
  const listening = tracingChannel('net.server.listen').asyncEnd;
  const look = (message: unknown): void => {
    const { server } = message as { server: Server };
    if (server.listenerCount('request') === 0 || server.listenerCount('upgrade') === 0) {
      deaf.push(server);
    }
  };
  listening.subscribe(look);
  t.after(() => listening.unsubscribe(look));
  await startWorld(t);
  assert.equal(deaf.length, 0);
});
