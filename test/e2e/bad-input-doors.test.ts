// What comes in broken at every listener of a real cluster: the API, the TLS port, the unix socket,
// the agents' WebSocket and the launcher's socket. It is answered or cut off, and harms nobody.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import WebSocket from 'ws';
import { REQUEST_BYTES_MAX } from '../../src/kernel/model/limits.ts';
import type { NodeHello } from '../../src/kernel/model/node.ts';
import { decodeHeadMessage, encode } from '../../src/kernel/wire/codec.ts';
import { PROTOCOL_VERSION } from '../../src/kernel/wire/messages.ts';
import { CallError } from '../support/local-client.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';
import { type Door, postBytes, sendRaw } from './support/raw.ts';

const program = { kind: 'argv', argv: ['true'] };
/** The same every time: a failure can be looked at again. */
const GARBAGE = Uint8Array.from({ length: 65_536 }, (_, at) => (at * 167 + (at >> 5)) % 251);

type Wrong = readonly [method: string, path: string, body: unknown, status: number, words: RegExp];
const submit = (more: object, words: RegExp): Wrong => {
  return ['POST', '/v1/jobs', { program, ...more }, 400, words];
};

const WRONG: readonly Wrong[] = [
  ['POST', '/v1/jobs', {}, 400, /program/],
  ['POST', '/v1/jobs', [], 400, /expected object/],
  ['POST', '/v1/jobs', null, 400, /expected object/],
  submit({ cpus: 1 }, /unknown field cpus/),
  submit({ owner: 'root' }, /unknown field owner/),
  submit({ program: { kind: 'frob' } }, /'argv' \| 'shell' \| 'script'/),
  submit({ program: { kind: 'argv', argv: ['a\0b'] } }, /NUL/),
  submit({ nodeCount: 0 }, /nodeCount/),
  submit({ nodeCount: 1.5 }, /nodeCount/),
  submit({ memoryBytes: -1 }, /memoryBytes/),
  submit({ memoryBytes: 2 ** 52 }, /memory must be a whole number from 0/),
  submit({ walltimeMs: 2 ** 52 }, /time limit/),
  submit({ beginAt: 2 ** 52 }, /begin time/),
  submit({ environment: { 'A=B': '' } }, /'A=B' is not a name/),
  submit({ directory: { kind: 'shared', path: 'here' } }, /absolute path/),
  submit({ directory: { kind: 'shared', path: '/a/../b' } }, /'\.\.'/),
  submit({ array: { indices: '0-999999999' } }, /split the array/),
  submit({ name: 'two\nlines' }, /on one line/),
  ['POST', '/v1/jobs/bulk', { jobs: [] }, 400, /jobs/],
  ['POST', '/v1/jobs/1/signal', { signal: 99 }, 400, /signal/],
  ['POST', '/v1/nodes', { name: '../up' }, 400, /a node name/],
  ['POST', '/v1/nodes', { name: 'n1' }, 409, /already enrolled/],
  ['GET', '/v1/jobs/0', undefined, 400, /not a job id/],
  ['GET', '/v1/jobs/%00', undefined, 400, /write 42/],
  ['GET', '/v1/jobs/1%5B9%5D', undefined, 404, /No job 1\[9\]/],
  ['GET', '/v1/jobs?bogus=1', undefined, 400, /unknown field bogus/],
  ['GET', '/v1/jobs?limit=0', undefined, 400, /limit/],
  ['GET', '/v1/nope', undefined, 404, /No such path/],
  ['DELETE', '/v1/jobs/1', undefined, 404, /No such path/],
];

describe('bad input at the doors', () => {
  let cluster: LocalCluster;
  let doors: Record<'tls' | 'plain' | 'socket', Door>;
  let secret: string;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', '127.0.0.1:0');
    await cluster.ok('run', '--wait', 'true');
    const record = readFileSync(join(cluster.state, 'cluster.json'), 'utf8');
    const { listen } = JSON.parse(record) as { listen: { host: string; port: number } };
    const path = join(cluster.state, 'weft.sock');
    doors = { tls: { ...listen, secure: true }, plain: listen, socket: { path } };
    const reply = await cluster.client.call<{ secret: string }>('POST', '/v1/nodes', {
      name: 'n9',
    });
    secret = reply.secret;
  });
  after(() => cluster.close());

  /** Runs a job around what is done: it must not notice. */
  async function meanwhile(act: () => Promise<void>): Promise<void> {
    const id = await cluster.ok('run', '--', 'echo $$; until [ -e go ]; do sleep 0.05; done');
    await until('the job runs', async () => {
      return (await cluster.job(id)).state === 'running' ? true : undefined;
    });
    const count = await cluster.jobCount();
    await act();
    assert.equal(await cluster.jobCount(), count, 'nothing was accepted');
    writeFileSync(join(cluster.work, 'go'), '');
    assert.equal(await cluster.ok('wait', id), `${id} completed`);
    assert.match(await cluster.ok('logs', id), /^\d+$/, 'it was started once');
    await cluster.ok('run', '--wait', '-n', '2', 'rm', '-f', 'go');
  }

  it('[J3] the API names what is wrong, with the status of its kind', async () => {
    await meanwhile(async () => {
      for (const [method, path, body, status, words] of WRONG) {
        const about = `${method} ${path} ${JSON.stringify(body)}`;
        const refusal = await refusalOf(cluster.client.call(method, path, body));
        assert.equal(refusal.status, status, `${about}: ${refusal.message}`);
        const { error } = JSON.parse(refusal.message) as { error: { message: string } };
        assert.match(error.message, words, about);
      }
    });
  });

  it('a bulk submission refuses what is wrong in it and accepts the rest', async () => {
    const jobs = [{ submission: {} }, { submission: { program } }, { submission: null }];
    const { results } = await cluster.client.call<{ results: { ok: boolean }[] }>(
      'POST',
      '/v1/jobs/bulk',
      { jobs },
    );
    assert.deepEqual(
      results.map(({ ok }) => ok),
      [false, true, false],
    );
  });

  it('a request of 100 MB is refused unread, announced or not', async () => {
    await meanwhile(async () => {
      const bytes = 100 * 1_048_576;
      const authorization = `Bearer ${await cluster.ok('token', 'create')}`;
      const send = (headers: OutgoingHttpHeaders, size: number) => {
        const { path: socketPath } = doors.socket as { path: string };
        return postBytes({ socketPath, path: '/v1/jobs', headers }, size);
      };
      const announced = await send({ authorization, 'content-length': bytes }, 0);
      const streamed = await send({ authorization, 'transfer-encoding': 'chunked' }, bytes);
      for (const { status, text, sent } of [announced, streamed]) {
        assert.equal(status, 400);
        assert.match(text, /request\.too_large.*larger than 8M; nothing was accepted/);
        assert.ok(sent < 4 * REQUEST_BYTES_MAX, `${sent} bytes were taken`);
      }
    });
  });

  it('garbage on the port and on the socket is answered once or cut off', async () => {
    await meanwhile(async () => {
      const header = `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(100_000)}`;
      assert.equal(await sendRaw(doors.plain, GARBAGE), '');
      assert.equal(await sendRaw(doors.plain, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'), '');
      for (const door of [doors.tls, doors.socket]) {
        assert.match((await sendRaw(door, GARBAGE)) ?? 'open', /^HTTP\/1.1 400 .*malformed/s);
        assert.match((await sendRaw(door, header)) ?? 'open', /^HTTP\/1.1 400 .*malformed/s);
      }
    });
  });

  it('garbage on the launcher’s socket ends nothing that it runs', async () => {
    await meanwhile(async () => {
      const tooLong = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 1);
      const otherVersion = Uint8Array.of(5, 0, 0, 0, 1, 9, 0, 0, 0);
      for (const node of ['n1', 'n2']) {
        const path = join(cluster.state, 'nodes', node, 'launcher.sock');
        for (const bytes of [GARBAGE, tooLong, otherVersion]) {
          assert.notEqual(await sendRaw({ path }, bytes), null, 'cut off');
        }
      }
    });
  });

  it('[W2] an agent that speaks another protocol is told both versions', async () => {
    for (const protocol of [0, PROTOCOL_VERSION + 1, 4_000_000_000]) {
      const { first, closed } = await dial(encode({ kind: 'hello', protocol, hello: HELLO }));
      const refused = decodeHeadMessage(first ?? new Uint8Array());
      assert.ok(refused.ok && refused.value.kind === 'refused');
      assert.equal(refused.value.code, 'protocol.version');
      const words = `The other side speaks protocol ${protocol}, this side ${PROTOCOL_VERSION};`;
      assert.ok(refused.value.message.startsWith(words), refused.value.message);
      assert.match(closed, /^1000 /);
    }
  });

  it('[W3] an agent that sends what cannot be read is cut off with the reason', async () => {
    await meanwhile(async () => {
      assert.match((await dial(GARBAGE)).closed, /unreadable message/);
      assert.match((await dial('text')).closed, /unreadable message/);
      assert.match((await dial(new Uint8Array(17 * 1_048_576))).closed, /^1009/);
      const flawed = encode({ kind: 'hello', protocol: PROTOCOL_VERSION, hello: HELLO });
      assert.match((await dial(flawed)).closed, /hello of the node is not as it should be/);
    });
  });

  it('[N1] a node with a wrong secret, or none, does not get in', async () => {
    for (const credentials of ['Node n9:wrong', 'Node n8:wrong', `Node n1:${secret}`, 'Bearer x']) {
      assert.match((await dial('', credentials)).closed, /401/, credentials);
    }
  });

  it('another certificate than the pinned one gets neither token nor secret', async () => {
    const { host, port } = doors.plain as { host: string; port: number };
    const url = `https://${host}:${port}`;
    const token = await cluster.ok('token', 'create');
    const env = { ...cluster.env, WEFT_TOKEN: token };
    const at = async (fingerprint: string[]) =>
      cluster.run('weft', ['jobs', '--head', url, ...fingerprint], { env });
    const wrong = await at(['--fingerprint', '0'.repeat(64)]);
    assert.equal(wrong.code, 4);
    assert.match(wrong.error, /shows certificate [0-9a-f]{64}, expected 0{64}/);
    const none = await at([]);
    assert.equal(none.code, 7);
    assert.match(none.error, /certificate is self-signed; pass --fingerprint\n.*--fingerprint/);
    assert.equal((await at(['--fingerprint', fingerprint()])).code, 0);
    const plain = await cluster.run('weft', ['jobs', '--head', `http://${host}:${port}`], { env });
    assert.equal(plain.code, 2);
  });

  it('a machine joins neither with an expired token nor at a head that is another', async () => {
    const { host, port } = doors.plain as { host: string; port: number };
    const reply = await cluster.client.call<{ token: string; expiresAt: number }>(
      'POST',
      '/v1/join-tokens',
      { expiresInMs: 1000 },
    );
    const ticket = (f: string) => {
      const json = JSON.stringify({ a: [`${host}:${port}`], f, t: reply.token });
      return `weft-join:${Buffer.from(json).toString('base64url')}`;
    };
    const env = { ...cluster.env, WEFT_DIR: join(cluster.directory, 'joining') };
    const join9 = (f: string) => cluster.run('weft', ['join', ticket(f), '--name', 'n10'], { env });
    const stranger = await join9('0'.repeat(64));
    assert.equal(stranger.code, 4);
    assert.match(stranger.error, /shows certificate/);
    await until('the token has expired', () => Date.now() > reply.expiresAt || undefined);
    const late = await join9(fingerprint());
    assert.equal(late.code, 4);
    assert.match(late.error, /unknown, revoked or expired/);
    assert.equal((await cluster.refused('weft', 'node', 'show', 'n10')).code, 3);
  });

  function fingerprint(): string {
    const pem = readFileSync(join(cluster.state, 'head', 'tls', 'certificate.pem'));
    return new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
  }

  /** Opens the agents' WebSocket, sends one message, and waits for the end. */
  function dial(
    message: Uint8Array | string,
    authorization = `Node n9:${secret}`,
  ): Promise<{ first: Uint8Array | null; closed: string }> {
    return new Promise((resolve) => {
      const { path } = doors.socket as { path: string };
      const socket = new WebSocket(`ws+unix:${path}:/v1/agent`, { headers: { authorization } });
      let first: Uint8Array | null = null;
      let failure = '';
      socket.on('open', () => socket.send(message));
      socket.on('message', (data: Buffer) => {
        first ??= data;
      });
      socket.on('error', (error) => {
        failure = error.message;
      });
      socket.on('close', (code, why) => resolve({ first, closed: `${code} ${why} ${failure}` }));
    });
  }
});

/** Never read: what is wrong is seen before. */
const HELLO = { bootId: 'none' } as unknown as NodeHello;

async function refusalOf(call: Promise<unknown>): Promise<CallError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof CallError) return error;
    throw error;
  }
  return assert.fail('it was accepted');
}
