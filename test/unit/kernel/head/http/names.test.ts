// Names that do not show what they are, and bytes that are no text: refused wherever they enter.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { isPlainLine, toPlainLine } from '../../../../../src/kernel/base/plain-line.ts';
import { startAgent, startWorld, TRUE } from './fixture.ts';

const HIDDEN = [
  'a\nb',
  'a\u001b[2Jb',
  'a\u009bb',
  'a\u202eb',
  'a\u2066b',
  'a\u2028b',
  'a\ud800b',
].concat(
  [
    '\u200b',
    '\u200d',
    '\u200c',
    '\ufeff',
    '\u00ad',
    '\u2060',
    '\u3164',
    '\ufe0f',
    '\u200f',
    '\u{e0041}',
  ].map((sign) => `a${sign}b`),
);

test('a plain line shows all of itself', () => {
  for (const text of HIDDEN) {
    assert.equal(isPlainLine(text), false, JSON.stringify(text));
    assert.equal(toPlainLine(text).replace('[2J', ''), 'ab');
  }
  for (const text of [
    'a b',
    'Größe',
    '作業',
    'שלום',
    '👍🏽',
    'e\u0301',
    'می\u200cخواهم',
    'क्\u200dष',
    '👩\u200d🔬',
    '❤\ufe0f',
  ]) {
    assert.equal(isPlainLine(text), true, text);
    assert.equal(toPlainLine(text), text);
  }
});

test('names, labels and reasons with hidden signs are refused, in words', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const { admin } = world;
  const refused = {
    code: 'argument.invalid',
    message: /control characters and others that are not seen \(U\+/,
  };
  const within = { until: Date.now() + 86_400_000 };
  for (const name of HIDDEN.filter((text) => !text.includes('\ud800'))) {
    const calls = [
      admin.call('submitJob', { body: { ...TRUE, name } }),
      admin.call('submitJob', { body: { ...TRUE, partition: name } }),
      admin.call('submitJob', { body: { ...TRUE, labels: [name] } }),
      admin.call('createReservation', {
        body: { name, users: ['bob'], within, durationMs: 60_000, nodeNames: ['n1'] } as never,
      }),
      admin.call('createToken', { body: { label: name } }),
      admin.call('drainNode', { params: { name: 'n1' }, body: { reason: name } }),
    ];
    for (const call of calls) await assert.rejects(call, refused, JSON.stringify(name));
  }
  await admin.call('submitJob', { body: { ...TRUE, name: 'Größe 作業 שלום' } });
});

test('a job without a name gets none with hidden signs from its program', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const program = { kind: 'argv' as const, argv: ['/bin/a\u202e\nb'] };
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, program } });
  const job = await world.admin.call('getJob', { params: { id: String(jobId) } });
  assert.equal(job.name, 'ab');
});

test('a body that is not UTF-8 is refused, and not read as something else', async (t) => {
  const world = await startWorld(t);
  const body = Buffer.from([...Buffer.from('{"challenge": "'), 0xff, 0xfe, ...Buffer.from('"}')]);
  const head = `POST /v1/auth/local/finish HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  const socket = connect(world.socketPath);
  socket.write(head);
  socket.write(body);
  const answer = Buffer.concat(await socket.toArray()).toString();
  assert.match(answer, /request\.malformed.*not valid UTF-8/s);
});
