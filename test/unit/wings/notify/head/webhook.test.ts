// Webhooks against real servers on loopback: what they get, and where a webhook must not lead.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Attempt } from '../../../../../src/kernel/model/notification.ts';
import { isPublic } from '../../../../../src/wings/notify/head/webhook.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { fileIn, message, notifiers, serve, target } from './fixture.ts';

const SECRET = 'a secret of the site';

function hooks(t: TestContext, networks: readonly string[] = ['127.0.0.0/8'], timeoutMs = 5000) {
  const secretFile = fileIn(makeFolder(t, {}), 'secret', `${SECRET}\n`);
  const made = notifiers({ webhook: { networks, secretFile }, timeoutMs });
  return (url: string): Promise<Attempt> => made.tell(target(`webhook:${url}`), message());
}

const why = (attempt: Attempt): string => (attempt.kind === 'failed' ? attempt.why : 'told');

test('a webhook gets the event as JSON, signed over its very bytes', async (t) => {
  const { port, received } = await serve(t, (_, response) => response.writeHead(204).end());
  assert.deepEqual(await hooks(t)(`http://127.0.0.1:${port}/hook?x=1`), { kind: 'told' });
  const [request] = received;
  assert.ok(request !== undefined);
  assert.deepEqual([request.method, request.url], ['POST', '/hook?x=1']);
  const signature = createHmac('sha256', SECRET).update(request.body).digest('hex');
  assert.equal(request.headers['weft-signature'], `sha256=${signature}`);
  assert.equal(request.headers['weft-delivery'], message().id);
  assert.deepEqual(JSON.parse(request.body), {
    v: 1,
    id: message().id,
    cluster: 'lab',
    kind: 'job',
    job: 42,
    name: 'train',
    owner: 'ann',
    outcome: 'failed',
    exitCode: 3,
    signal: null,
    detail: null,
    counts: null,
    submittedAt: 1_700_000_000_000,
    startedAt: 1_700_000_060_000,
    endedAt: 1_700_000_160_000,
    title: message().title,
    text: message().text,
  });
});

test('[T5] names that lead into the site’s own network are not followed there', async (t) => {
  const { port, received } = await serve(t, (_, response) => response.end());
  for (const [url, words] of [
    [`http://127.0.0.1:${port}/`, /127\.0\.0\.1 is in no network/],
    [`http://localhost:${port}/`, /is in no network/],
    [`http://[::ffff:127.0.0.1]:${port}/`, /written in a form|is in no network/],
    [`http://0x7f.1:${port}/`, /written in a form that is not allowed/],
    [`http://2130706433:${port}/`, /written in a form that is not allowed/],
    [`http://0:${port}/`, /written in a form that is not allowed/],
    [`http://[::1]:${port}/`, /is in no network/],
  ] as const) {
    assert.match(why(await hooks(t, ['10.0.0.0/8'])(url)), words, url);
  }
  assert.equal(received.length, 0);
  // And without TLS nowhere but where the site says.
  assert.match(why(await hooks(t, [])('http://192.0.2.1/')), /is in no network/);
  assert.match(why(await hooks(t, [])('http://9.9.9.9/')), /is in no network/);
});

test('[T5] which addresses are of the public internet', () => {
  const shut = ['0.0.0.0', '10.9.8.7', '100.64.1.1', '127.0.0.1', '169.254.169.254', '172.31.0.1'];
  shut.push('192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1');
  shut.push(
    'fd00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2001:db8::1',
    '2002:a00::1',
  );
  shut.push('2001:0:1::1', 'not an address');
  for (const address of shut) assert.equal(isPublic(address), false, address);
  for (const address of ['9.9.9.9', '172.32.0.1', '2620:fe::fe']) {
    assert.equal(isPublic(address), true, address);
  }
});

test('[T5] a redirect is not followed', async (t) => {
  const inner = await serve(t, (_, response) => response.end());
  const outer = await serve(t, (_, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end();
  });
  const said = why(await hooks(t)(`http://127.0.0.1:${outer.port}/`));
  assert.equal(said, 'the webhook answered with status 302; redirects are not followed');
  assert.equal(inner.received.length, 0);
});

test('[T2] an answer that never comes or never ends takes bounded time and memory', async (t) => {
  const silent = await serve(t, () => undefined);
  const tell = hooks(t, ['127.0.0.0/8'], 300);
  assert.equal(why(await tell(`http://127.0.0.1:${silent.port}/`)), 'no answer within 0.3s');
  const slow = await serve(t, (_, response) => {
    response.writeHead(200).write('x');
  });
  assert.equal(why(await tell(`http://127.0.0.1:${slow.port}/`)), 'no answer within 0.3s');
  let sent = 0;
  const huge = await serve(t, (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536))) sent += 65_536;
      response.once('drain', more);
    };
    more();
  });
  assert.equal(why(await hooks(t)(`http://127.0.0.1:${huge.port}/`)), 'told');
  assert.ok(sent < 64 * 1_048_576, `${sent} bytes were taken`);
});

test('a refusal says its status, and for how long to wait', async (t) => {
  const busy = await serve(t, (_, response) => {
    response.writeHead(429, { 'retry-after': '120' }).end('no');
  });
  assert.deepEqual(await hooks(t)(`http://127.0.0.1:${busy.port}/`), {
    kind: 'failed',
    why: 'the webhook answered with status 429',
    afterMs: 120_000,
  });
  const plain = await hooks(t)(`https://127.0.0.1:${busy.port}/`);
  assert.equal(why(plain), 'what answers there speaks no TLS that is understood here');
  const { port, server } = await serve(t, () => undefined);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(why(await hooks(t)(`http://127.0.0.1:${port}/`)), 'connection refused');
});
