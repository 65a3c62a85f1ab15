// What the one who has a step does while its line cannot be had.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api } from '../../../../../src/kernel/connect/api.ts';
import { Failure } from '../../../../../src/kernel/model/failure.ts';
import { LINGER_MS_MAX } from '../../../../../src/wings/steps/core/limits.ts';
import { StepClient } from '../../../../../src/wings/steps/sdk/step-client.ts';

test('whoever leaves in a long wait is heard at once, and keeps no program alive', async (t) => {
  const timers = new Set<number>();
  t.mock.method(globalThis, 'setTimeout', (...[, ms]: Parameters<typeof setTimeout>) => {
    timers.add(ms ?? 0);
    return {} as NodeJS.Timeout;
  });
  let dialled = 0;
  const api = {
    dial: () => {
      dialled += 1;
      const message = 'nobody is there';
      throw new Failure({ code: 'head.unreachable', kind: 'unavailable', message });
    },
  } as unknown as Api;
  const none = () => Promise.resolve();
  const sink = { out: none, error: none, note: () => undefined };
  const client = new StepClient(api, { id: '42.0', rank: 0, lingerMs: LINGER_MS_MAX }, sink);
  await new Promise(setImmediate);
  assert.deepEqual([dialled, [...timers]], [1, [200]]);
  client.leave('left');
  await new Promise(setImmediate);
  assert.equal(dialled, 2, 'it does not wait for the end of that');
  client.leave('left');
  assert.deepEqual(await client.done, { code: 129, why: 'left' });
});
