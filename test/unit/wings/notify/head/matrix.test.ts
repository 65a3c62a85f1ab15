// Matrix against a small homeserver of the test's, for answers that a real one gives seldom; a real
// one is in test/e2e/notifications.test.ts.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Attempt } from '../../../../../src/kernel/model/notification.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { fileIn, message, notifiers, type Received, serve, target } from './fixture.ts';

type Answer = readonly [status: number, body: unknown];

const why = (attempt: Attempt): string => (attempt.kind === 'failed' ? attempt.why : 'told');

/** `answers` by method and the end of the path; what is not there is 404. */
async function homeserver(t: TestContext, answers: Record<string, Answer>) {
  const { port, received } = await serve(t, ({ method, url }, response) => {
    const place = decodeURIComponent(url).replace('/_matrix/client/v3', '');
    const found = Object.entries(answers).find(([key]) => `${method} ${place}`.startsWith(key));
    const [status, body] = found?.[1] ?? [404, { errcode: 'M_NOT_FOUND', error: 'none' }];
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const tokenFile = fileIn(makeFolder(t, {}), 'token', 'secret-token\n');
  const matrix = { homeserver: `http://127.0.0.1:${port}`, tokenFile };
  const { tell } = notifiers({ matrix, timeoutMs: 2000 });
  const places = () =>
    received.map(({ method, url }: Received) => {
      return `${method} ${decodeURIComponent(url).replace('/_matrix/client/v3', '')}`;
    });
  return { received, places, answers, tell: () => tell(target('matrix:@ann:lab'), message()) };
}

const ROOM = { 'PUT /rooms/!one:lab/send': [200, { event_id: '$1' }] } as const;
const KNOWN = {
  'GET /account/whoami': [200, { user_id: '@weft:lab' }],
  'GET /user/@weft:lab/account_data/m.direct': [200, { '@ann:lab': ['!old:lab', '!one:lab'] }],
} as const;
const JOINED = {
  'GET /rooms/!one:lab/state/m.room.member/@ann:lab': [200, { membership: 'join' }],
} as const;

test('a room of before is found again, and one transaction is one message', async (t) => {
  const { tell, places, received } = await homeserver(t, { ...KNOWN, ...JOINED, ...ROOM });
  assert.equal(why(await tell()), 'told');
  assert.equal(why(await tell()), 'told');
  const sent = places().filter((place) => place.startsWith('PUT'));
  assert.equal(sent.length, 2);
  assert.equal(sent[0], sent[1], 'the same transaction');
  assert.equal(received[0]?.headers.authorization, 'Bearer secret-token');
  assert.equal(places().filter((place) => place.includes('whoami')).length, 1, 'it is remembered');
});

test('whoever has left the room is invited to a new one, which is kept', async (t) => {
  const left: Record<string, Answer> = {
    'GET /rooms/!one:lab/state/m.room.member/@ann:lab': [200, { membership: 'leave' }],
  };
  const { tell, received, places } = await homeserver(t, {
    ...KNOWN,
    ...left,
    'POST /createRoom': [200, { room_id: '!new:lab' }],
    'PUT /user/@weft:lab/account_data/m.direct': [200, {}],
    'PUT /rooms/!new:lab/send': [200, {}],
  });
  assert.equal(why(await tell()), 'told');
  const bodyOf = (start: string) =>
    JSON.parse(received[places().findIndex((place) => place.startsWith(start))]?.body ?? 'null');
  assert.deepEqual(bodyOf('POST /createRoom').invite, ['@ann:lab']);
  assert.deepEqual(bodyOf('PUT /user/'), { '@ann:lab': ['!old:lab', '!one:lab', '!new:lab'] });
});

test('[T2] a homeserver that is busy says for how long; a room that is gone is looked for anew', async (t) => {
  const { tell, answers, places } = await homeserver(t, { ...KNOWN, ...JOINED });
  const limit = { errcode: 'M_LIMIT_EXCEEDED', error: 'slow down', retry_after_ms: 90_000 };
  answers['PUT /rooms/!one:lab/send'] = [429, limit];
  assert.deepEqual(await tell(), {
    kind: 'failed',
    afterMs: 90_000,
    why: 'the homeserver answered 429 M_LIMIT_EXCEEDED slow down',
  });
  answers['PUT /rooms/!one:lab/send'] = [403, '<html>'];
  assert.equal(why(await tell()), 'the homeserver answered 403');
  assert.equal(places().filter((place) => place.includes('whoami')).length, 2);
});

test('what is no answer of a homeserver is said, and never the token', async (t) => {
  const { tell, answers } = await homeserver(t, { 'GET /account/whoami': [200, '[]'] });
  assert.equal(why(await tell()), 'the homeserver did not say its own name');
  answers['GET /account/whoami'] = [302, ''];
  assert.equal(why(await tell()), 'the homeserver answered 302');
  answers['GET /account/whoami'] = [401, { errcode: 'M\r\nX', error: 'x'.repeat(5000) }];
  const words = why(await tell());
  assert.ok(words.length <= 200 && !words.includes('\n') && !words.includes('secret'), words);
});
