// Answers that are compressed: who gets them so, and what never is.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { createGunzip, gunzipSync } from 'node:zlib';
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

test('[D13] a long answer is compressed for who takes it; short ones are not', async (t) => {
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

/** Follows the events of alice. */
async function heardBy(t: TestContext, world: World, encoding?: string) {
  const authorization = `Bearer ${await world.token('alice')}`;
  const headers = { authorization, ...(encoding && { 'accept-encoding': encoding }) };
  const heard = { text: '', bytes: 0, isOver: false, coding: '' };
  const asked = request({ socketPath: world.socketPath, path: '/v1/events', headers }, (answer) => {
    heard.coding = answer.headers['content-encoding'] ?? 'none';
    answer.on('data', (piece: Buffer) => {
      heard.bytes += piece.length;
    });
    const plain = heard.coding === 'gzip' ? answer.pipe(createGunzip()) : answer;
    plain.setEncoding('utf8').on('data', (piece: string) => {
      heard.text += piece;
    });
    plain.on('end', () => {
      heard.isOver = true;
    });
    plain.on('error', () => undefined);
  });
  asked.on('error', () => undefined).end();
  t.after(() => asked.destroy());
  await eventually(() => heard.coding !== '');
  return heard;
}

/** Signs of life come to each reader at moments of its own. */
function recordsOf({ text }: { readonly text: string }): string[] {
  return text.split('\n\n').filter((message) => message.includes('data: '));
}

test('[D13] each event comes as it happens, compressed for who takes that', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const plain = await heardBy(t, world);
  const short = await heardBy(t, world, 'br, gzip');
  assert.deepEqual([plain.coding, short.coding], ['none', 'gzip']);
  const alice = await world.client('alice');
  for (let at = 0; at < 20; at += 1) {
    const { jobId } = await alice.call('submitJob', { body: { ...TRUE, held: true } });
    // What would wait in a compressor for more to come would never be there.
    const isThere = ({ text }: { text: string }) =>
      text.includes(`"job_submitted","jobId":${jobId}`);
    await eventually(() => isThere(plain) && isThere(short));
  }
  assert.deepEqual(recordsOf(short), recordsOf(plain));
  assert.ok(short.bytes * 4 < plain.bytes, `${short.bytes} of ${plain.bytes} bytes`);
});

test('[D13] a compressed stream of events ends whole when the head stops', async (t) => {
  const world = await startWorld(t);
  const short = await heardBy(t, world, 'gzip');
  await world.http.close();
  await eventually(() => short.isOver);
});

test('[D13] no more than 200 streams of events are compressed, and one that ends makes room', async (t) => {
  const world = await startWorld(t);
  const authorization = `Bearer ${await world.token('alice')}`;
  const headers = { authorization, 'accept-encoding': 'gzip' };
  const open = () =>
    new Promise<{ coding: string; end(): void }>((resolve, reject) => {
      const path = '/v1/events';
      const asked = request({ socketPath: world.socketPath, path, headers }, (answer) => {
        answer.resume();
        const coding = answer.headers['content-encoding'] ?? 'none';
        resolve({ coding, end: () => void asked.destroy() });
      });
      asked.on('error', reject).end();
      t.after(() => asked.destroy());
    });
  const streams = [];
  for (let at = 0; at <= 200; at += 1) streams.push(await open());
  const codings = streams.map(({ coding }) => coding);
  assert.deepEqual([codings.indexOf('none'), codings.length], [200, 201]);
  streams[0]?.end();
  await eventually(async () => {
    const { coding, end } = await open();
    end();
    return coding === 'gzip';
  });
});
