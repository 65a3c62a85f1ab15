// The description of the API: what generators of clients make their names, types and calls from.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventKindsOf } from '../../../../src/kernel/api/event-kinds.ts';
import { LOG_HEADERS } from '../../../../src/kernel/api/log-headers.ts';
import { openApiDocument } from '../../../../src/kernel/api/openapi.ts';
import { APIS } from '../../../support/wings.ts';

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { name: string; in: string; schema: unknown }[];
  readonly responses: Record<string, { headers?: object; content: Record<string, object> }>;
}

const document = openApiDocument('1.2.3', APIS) as {
  readonly servers: readonly { url: string }[];
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { enum?: unknown }> };
};
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const { schemas } = document.components;

/** Every value below, with the keys that lead to it. */
function* walk(value: unknown, at: string): Generator<[at: string, value: object]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value];
  for (const [key, inner] of Object.entries(value)) yield* walk(inner, `${at}/${key}`);
}

test('every object and every choice of objects is a component with a name of its own', () => {
  for (const [at, value] of walk(document, '')) {
    const isNamed = /^\/components\/schemas\/[A-Z][A-Za-z0-9]*$/.test(at);
    const isField = at.endsWith('/properties');
    if (isNamed || isField) continue;
    assert.ok(!('properties' in value && 'type' in value), `${at} has no name`);
    assert.ok(!('oneOf' in value), `${at} has no name`);
  }
});

test('every reference leads to a component, and every component is used', () => {
  const used = new Set(['EventRecord']);
  for (const [, value] of walk(document, '')) {
    if (!('$ref' in value)) continue;
    const name = String(value.$ref).replace('#/components/schemas/', '');
    assert.ok(schemas[name], name);
    used.add(name);
  }
  assert.deepEqual(
    Object.keys(schemas).filter((name) => !used.has(name)),
    [],
  );
});

test('a route that does not fit a tag does not go without', () => {
  const known = new Set(document.tags.map(({ name }) => name));
  for (const { tags, operationId } of operations) {
    assert.ok(tags.length === 1 && known.has(tags[0] as string), operationId);
  }
  assert.ok(document.servers.some(({ url }) => url === '/'));
});

test('a route says who may use it besides the owner', () => {
  const access = (id: string) =>
    operations.find(({ operationId }) => operationId === id)?.description;
  const others = (role: string) => `For the owner of the job; others need the role ${role}.`;
  assert.equal(access('startStep'), others('admin'));
  assert.equal(access('noteStep'), others('admin'));
  assert.equal(access('openStep'), others('admin'));
  assert.equal(access('signalStep'), others('operator or admin'));
  assert.equal(access('revokeToken'), 'For the owner of the token; others need the role admin.');
});

test('headers of requests and answers are declared', () => {
  const headers = (id: string) =>
    operations
      .find(({ operationId }) => operationId === id)
      ?.parameters.filter((one) => one.in === 'header')
      .map(({ name }) => name);
  assert.deepEqual(headers('submitJob'), ['Idempotency-Key']);
  assert.deepEqual(headers('events'), ['Last-Event-ID']);
  const logs = operations.find(({ operationId }) => operationId === 'readLogs')?.responses['200'];
  assert.deepEqual(Object.keys(logs?.headers ?? {}), Object.values(LOG_HEADERS));
  assert.deepEqual(logs?.content, {
    'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
  });
});

test('the kinds of events are in the document, and filters take several', () => {
  assert.deepEqual(schemas['EventKind']?.enum, Object.keys(eventKindsOf(APIS)));
  const events = operations.find(({ operationId }) => operationId === 'events');
  const kind = events?.parameters.find(({ name }) => name === 'kind')?.schema;
  assert.equal((kind as { type: string }).type, 'array');
});

test('a route says when its connection becomes another protocol', () => {
  const agent = operations.find(({ operationId }) => operationId === 'agent');
  assert.deepEqual(Object.keys(agent?.responses ?? {}), ['101', 'default']);
});
