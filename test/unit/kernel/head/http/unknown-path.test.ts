// What the head says about paths and parameters that it does not have.

import assert from 'node:assert/strict';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { startWorld } from './fixture.ts';

interface Said {
  readonly error?: { readonly code: string; readonly message: string; readonly details: unknown };
}

async function ask(socketPath: string, path: string, token?: string): Promise<Said> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const body = await new Promise<string>((resolve, reject) => {
    get({ socketPath, path, headers }, (answer) => resolve(text(answer))).on('error', reject);
  });
  return JSON.parse(body) as Said;
}

test('a path that the head does not have is refused by its name', async (t) => {
  const { socketPath } = await startWorld(t);
  const { error } = await ask(socketPath, '/v1/nowhere');
  assert.ok(error !== undefined);
  assert.deepEqual(
    { code: error.code, details: error.details },
    { code: 'route.unknown', details: { path: 'GET /v1/nowhere' } },
  );
});

test('a parameter is refused by a route that takes none, but not by one that all may ask', async (t) => {
  const { admin, socketPath } = await startWorld(t);
  const { token } = await admin.call('createToken', { body: {} });
  const { error } = await ask(socketPath, '/v1/nodes?state=idle', token);
  assert.equal(error?.code, 'argument.invalid');
  assert.match(error?.message ?? '', /query: unknown field state/);
  assert.equal((await ask(socketPath, '/v1/nodes?', token)).error, undefined);
  assert.equal((await ask(socketPath, '/healthz?from=probe')).error, undefined);
});
