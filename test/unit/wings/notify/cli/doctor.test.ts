// What the doctor says of notifications, from what a head has answered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../../../../src/kernel/cli/context.ts';
import { notifierFindings } from '../../../../../src/wings/notify/cli/doctor.ts';

test('a head that has told nobody since it started claims nothing of the time before', async () => {
  const notifiers = [{ kind: 'command', waiting: 2, toldAt: null, failure: null }];
  const api = async () => ({ call: async () => ({ notifiers }) });
  const found = await notifierFindings({ api } as unknown as Context);
  assert.deepEqual(found, [
    { state: 'ok', text: 'command: not used since the head started; 2 messages waiting' },
  ]);
});
