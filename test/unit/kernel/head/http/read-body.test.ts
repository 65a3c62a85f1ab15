// The body of a request: bounded in size and in time.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { submission } from '../../../../../src/kernel/api/submission.ts';
import { readBody } from '../../../../../src/kernel/head/http/read-body.ts';
import { validate } from '../../../../../src/kernel/head/http/validate.ts';
import { BODY_NAMES_MAX } from '../../../../../src/kernel/model/limits.ts';
import { VirtualClock } from '../../agent/fake-world.ts';

function incoming(): { stream: PassThrough; request: IncomingMessage } {
  const stream = Object.assign(new PassThrough(), { headers: {} });
  return { stream, request: stream as unknown as IncomingMessage };
}

test('a body that does not end is refused after a minute', async () => {
  const clock = new VirtualClock();
  const { stream, request } = incoming();
  const body = readBody(request, clock);
  stream.write('{"a":');
  await clock.advance(60_000);
  const read = await body;
  assert.ok(!read.ok && read.error.code === 'request.malformed');
  assert.match(JSON.stringify(read.error), /longer than 60 s/);
});

test('a body that ends in time is JSON', async () => {
  const clock = new VirtualClock();
  const { stream, request } = incoming();
  const body = readBody(request, clock);
  stream.end('{"a":1}');
  assert.deepEqual(await body, { ok: true, value: { a: 1 } });
});

async function read(text: string) {
  const { stream, request } = incoming();
  Object.assign(stream, { complete: true });
  const body = readBody(request, new VirtualClock());
  stream.end(text);
  return body;
}

test('[D16] a text with half of a character is refused, whole ones are read', async () => {
  for (const text of ['{"argv":["\\ud83d"]}', '{"\\uDE00":1}', '["\\ud83d \\ude00"]']) {
    const half = await read(text);
    assert.ok(!half.ok && /lone surrogate/.test(half.error.details['what'] ?? ''), text);
  }
  const whole = await read('{"a":"\\ud83d\\ude00","b":["\\\\ud83d"]}');
  assert.deepEqual(whole, { ok: true, value: { a: '\u{1F600}', b: ['\\ud83d'] } });
});

test('[D16] a body with very many names is refused before it is parsed', async () => {
  const names = Array.from({ length: BODY_NAMES_MAX + 1 }, (_, at) => `"a${at}":1`);
  // Were it parsed, what is wrong at its end would be said.
  const many = await read(`{"counted":{${names.join(',')}} wrong`);
  assert.ok(!many.ok && many.error.code === 'request.malformed');
  assert.match(many.error.details['what'] ?? '', /more than 50000 different names/);
  // The same names, in ever another order: each object is another kind of object.
  const mixed = Array.from({ length: BODY_NAMES_MAX }, (_, at) => `{"x${at}":1,"y":2}`);
  assert.ok(!(await read(`[${mixed.join(',')}]`)).ok);
  assert.ok(!(await read(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)).ok);
});

test('[D16] any number of objects with the same names is read', async () => {
  const item = { name: 'a "quoted" \\', 'b,{': '"}]', c: { d: [{ e: 'f' }] } };
  const items = Array.from({ length: BODY_NAMES_MAX }, () => item);
  const body = await read(JSON.stringify(items));
  assert.ok(body.ok && (body.value as unknown[]).length === items.length);
  assert.deepEqual((body.value as unknown[]).at(-1), item);
});

test('[D16] a refusal names a few of the fields that are unknown or wrong', () => {
  const program = { kind: 'argv', argv: ['true'] };
  const unknown = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`a${at}`, '1']));
  const says = (value: unknown): string => {
    const checked = validate(submission, value, 'body');
    return checked.ok ? '' : (checked.error.details['what'] ?? '');
  };
  assert.match(says({ program, ...unknown }), /^body: unknown fields a0, .*a4 and 39995 more$/);
  assert.match(says({ program, environment: unknown }), /environment: expected at most 10000/);
  assert.match(says({ program, counted: unknown }), /counted: expected at most 32 kinds/);
  assert.match(says({ program, each: ['a', unknown] }), /each\[1\]: expected at most 100 fields/);
  const numbers = Array.from({ length: 60_000 }, () => 1);
  assert.equal(says({ program, each: numbers }), 'each[0]: expected record, received number');
  const wrong = { program: { ...program, argv: numbers } };
  assert.equal(says(wrong), 'program.argv[0]: expected string, received number');
  assert.ok(says({ program, ['x'.repeat(100_000)]: 1 }).length < 200);
});
