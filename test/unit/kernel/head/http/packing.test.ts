// Answers that are compressed: who gets them so, and what never is.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createClient } from '../../../../../src/kernel/api/client.ts';
import { takesGzip } from '../../../../../src/kernel/head/http/answer.ts';
import { eventually, startAgent, startWorld, TRUE, type World } from './fixture.ts';

test('[D13] what a reader takes is what its header says, and nothing without one', () => {
  const said: [string | undefined, boolean][] = [
    ...([
      [undefined, false],
      ['', false],
      ['gzip, deflate, br', true],
      ['GZIP;q=0.5', true],
    ] as const),
    ...([
      ['gzip;q=0', false],
      ['*', true],
      ['*, gzip;q=0', false],
      ['identity', false],
    ] as const),
    ['br', false],
  ].map(([header, takes]) => [header as string | undefined, takes as boolean]);
  for (const [header, takes] of said)
    assert.deepEqual([header, takesGzip(header)], [header, takes]);
});

/** An answer as it comes over the line. */
async function raw(world: World, authorization: string, path: string, encoding?: string) {
  const headers = { authorization, ...(encoding && { 'accept-encoding': encoding }) };
  return new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const asked = request({ socketPath: world.socketPath, path, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(pieces) }));
    });
    asked.on('error', reject).end();
  });
}

test('[D13] a long answer is compressed for who takes it; short ones and streams are not', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const submission = { ...TRUE, held: true };
  const jobs = Array.from({ length: 300 }, () => ({ submission }));
  await world.admin.call('submitJobs', { body: { jobs } });
  const authorization = `Bearer ${await world.token('alice')}`;
  const list = '/v1/jobs?limit=300';
  const plain = await raw(world, authorization, list);
  assert.equal(plain.headers['content-encoding'], undefined);
  const short = await raw(world, authorization, list, 'br, gzip');
  assert.equal(short.headers['content-encoding'], 'gzip');
  assert.equal(short.headers['vary'], 'accept-encoding');
  assert.equal(Number(short.headers['content-length']), short.bytes.length);
  assert.ok(short.bytes.length * 5 < plain.bytes.length, `${short.bytes.length} bytes`);
  assert.deepEqual(JSON.parse(String(gunzipSync(short.bytes))), JSON.parse(String(plain.bytes)));
  const tiny = await raw(world, authorization, '/v1/whoami', 'gzip');
  assert.equal(tiny.headers['content-encoding'], undefined);
  const refused = await raw(world, 'Bearer wt_x', list, 'gzip');
  assert.equal(refused.headers['content-encoding'], undefined);
});

test('[D13] events come as they happen, whatever their reader takes', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const authorization = `Bearer ${await world.token('alice')}`;
  const headers = { authorization, 'accept-encoding': 'gzip' };
  let heard = '';
  const asked = request({ socketPath: world.socketPath, path: '/v1/events', headers }, (answer) => {
    assert.equal(answer.headers['content-encoding'], undefined);
    answer.setEncoding('utf8').on('data', (piece: string) => {
      heard += piece;
    });
    answer.on('error', () => undefined);
  });
  asked.on('error', () => undefined).end();
  t.after(() => asked.destroy());
  const alice = createClient({
    address: { url: world.url, fingerprint: world.http.fingerprint ?? undefined },
    token: authorization.slice('Bearer '.length),
  });
  t.after(() => alice.close());
  await eventually(async () => {
    await alice.call('submitJob', { body: { ...TRUE, held: true } });
    return heard.includes('job_submitted');
  });
  asked.destroy();
});
