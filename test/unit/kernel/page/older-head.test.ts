// The page at a head of an earlier release, as after a failover to one: a stand-in that knows no
// brief events refuses them, and the page follows what there is.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventsQuery } from '../../../../src/kernel/api/cluster.ts';
import { keepLive, type LiveEvent, line, onEvents } from '../../../../src/kernel/page/data/live.ts';
import { me } from '../../../../src/kernel/page/data/session.ts';

const OLDER_QUERY = eventsQuery.omit({ brief: true });

/** What the older head was asked for, and the streams that it has open. */
const asked: { readonly query: string; readonly after: string | null }[] = [];
const streams: ReadableStreamDefaultController<Uint8Array>[] = [];

function refusal(): Response {
  const error = { code: 'argument.invalid', kind: 'invalid_argument', message: 'no', hint: null };
  return Response.json({ error }, { status: 400 });
}

/** The events of a head whose routes refuse what they do not know. */
async function olderHead(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const url = new URL(String(input), 'http://head');
  assert.equal(url.pathname, '/v1/events');
  asked.push({ query: url.search, after: new Headers(init?.headers).get('last-event-id') });
  if (!OLDER_QUERY.safeParse(Object.fromEntries(url.searchParams)).success) return refusal();
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      streams.push(stream);
      init?.signal?.addEventListener('abort', () => stream.error(new Error('aborted')));
    },
  });
  return new Response(body);
}

function tell(seq: number, event: LiveEvent): void {
  const record = JSON.stringify({ seq, at: 0, events: [event] });
  streams.at(-1)?.enqueue(new TextEncoder().encode(`id: ${seq}\ndata: ${record}\n\n`));
}

const { fetch: real } = globalThis;
const PAGE = { visibilityState: 'visible', addEventListener: () => undefined };

before(() => {
  globalThis.fetch = olderHead;
});
after(() => {
  me.value = null;
  globalThis.fetch = real;
});

test('[D22] events come in full from a head that knows none in brief', {
  timeout: 30_000,
}, async () => {
  let heard = Promise.withResolvers<readonly LiveEvent[] | 'all'>();
  const end = onEvents((events) => heard.resolve(events));
  const next = async () => {
    const events = await heard.promise;
    heard = Promise.withResolvers();
    return events;
  };
  me.value = { name: 'anna', role: 'user' };
  keepLive(PAGE);
  assert.equal(await next(), 'all');
  assert.equal(line.value.kind, 'live');
  const done = { kind: 'task_done', jobId: 3, index: 1, outcome: { kind: 'completed' } };
  tell(7, done);
  assert.deepEqual(await next(), [done]);
  const refused = { query: '?brief=true', after: null };
  assert.deepEqual(asked, [refused, { query: '', after: null }], 'refused once, then asked anew');
  // After a cut the page goes on where it was, and does not ask for what was refused.
  streams.at(-1)?.close();
  assert.equal(await next(), 'all', 'what no event tells may have changed');
  tell(8, done);
  assert.deepEqual(await next(), [done]);
  assert.deepEqual(asked.slice(2), [{ query: '', after: '7' }]);
  end();
});
