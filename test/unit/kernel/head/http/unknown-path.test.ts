// What the head says about paths that it does not have.

import assert from 'node:assert/strict';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { startWorld } from './fixture.ts';

test('a path that the head does not have is refused by its name', async (t) => {
  const { socketPath } = await startWorld(t);
  const body = await new Promise<string>((resolve, reject) => {
    get({ socketPath, path: '/v1/nowhere' }, (answer) => resolve(text(answer))).on('error', reject);
  });
  const { error } = JSON.parse(body) as { error: { code: string; details: unknown } };
  assert.deepEqual(
    { code: error.code, details: error.details },
    { code: 'route.unknown', details: { path: 'GET /v1/nowhere' } },
  );
});
