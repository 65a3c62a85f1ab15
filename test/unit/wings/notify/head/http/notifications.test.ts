// Notifications over the API: what their owner sees, what others do, and that no secret is in any
// of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, NotifyRules } from '../../../../../../src/kernel/model/notification.ts';
import type { Notifiers } from '../../../../../../src/wings/notify/head/notifiers.ts';
import { notifyHead } from '../../../../../../src/wings/notify/head/part.ts';
import {
  eventually,
  startAgent,
  startWorld,
  TRUE,
  type WorldOptions,
} from '../../../../kernel/head/http/fixture.ts';

const NOTIFY: NotifyRules = {
  matrix: ['*'],
  webhook: ['*'],
  command: null,
  mail: null,
  giveUpMs: 86_400_000,
};

function telling(notifiers: Notifiers): NonNullable<WorldOptions['parts']> {
  return { notify: async ({ audit }) => notifyHead({ notifiers, audit, clusterName: 'test' }) };
}

const HOOK = 'webhook:https://ci.lab/secret-path';

test('the owner sees what became of it, others that there is a job', async (t) => {
  const attempt: Attempt = { kind: 'failed', why: 'connection refused' };
  const world = await startWorld(t, {
    settings: { notify: NOTIFY },
    parts: telling({ kinds: ['matrix', 'webhook'], tell: async () => attempt }),
  });
  await startAgent(t, world, 'n1');
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  const body = { ...TRUE, held: true, notify: ['matrix:@alice:lab', HOOK] };
  const { jobId } = await alice.call('submitJob', { body });
  const params = { id: String(jobId) };
  const seen = async (client = alice) =>
    (await client.call('getJob', { params })).notifications?.map(({ words }) => words);
  assert.deepEqual(await seen(), [
    ...['matrix:@alice:lab, when it is done', 'webhook:https://ci.lab/…, when it is done'],
  ]);
  assert.equal(await seen(bob), undefined);
  await alice.call('cancelJob', { params });
  await eventually(async () => (await seen())?.every((one) => one.includes('refused')) ?? false);
  const refused = (await seen()) ?? [];
  assert.match(
    refused[1] ?? '',
    /^not yet notified webhook:https:\/\/ci\.lab\/…: connection refused; 1 attempt, next one in \d+s$/,
  );
  const list = (client = alice) => client.call('listNotifications', {});
  const { notifiers, notifications } = await list();
  assert.deepEqual(
    notifiers.map(({ kind, waiting, failure }) => [kind, waiting, failure?.why]),
    [
      ['matrix', 1, 'connection refused'],
      ['webhook', 1, 'connection refused'],
    ],
  );
  assert.deepEqual(
    notifications.map(({ subject, owner, state }) => [subject, owner, state]),
    [
      [`job ${jobId}`, 'alice', 'waiting'],
      [`job ${jobId}`, 'alice', 'waiting'],
    ],
  );
  assert.deepEqual((await list(bob)).notifications, []);
  assert.equal((await list(world.admin)).notifications.length, 2);
  const row = world.disk.jobs.get(jobId);
  assert.match(row?.spec ?? '', /webhook:https:\/\/ci\.lab\/…/);
  const all = JSON.stringify([row, notifications, world.audit.lines, world.log.lines]);
  assert.ok(!all.includes('secret-path'));
});

test('a batch shows its owner whom it notifies, and what became of it', async (t) => {
  const world = await startWorld(t, {
    settings: { notify: NOTIFY },
    parts: telling({ kinds: ['matrix'], tell: async () => ({ kind: 'told' }) }),
  });
  await startAgent(t, world, 'n1');
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  await world.admin.call('drainNode', { params: { name: 'n1' }, body: { reason: 'test' } });
  const program = { kind: 'script' as const, text: '#!/bin/sh\n', args: ['{name}'] };
  const submission = { program, each: [{ name: 'a' }], notify: ['matrix:@alice:lab'] };
  const params = { namespace: 'lab', name: 'heat' };
  const parts = [{ submission, numbers: [0], prints: ['x'] }];
  await alice.call('submitBatch', { body: { ...params, parts } });
  const seen = async (client = alice) =>
    (await client.call('getBatch', { params })).notifications?.map(({ words }) => words);
  assert.deepEqual(await seen(), ['matrix:@alice:lab, when its batch is done']);
  assert.equal(await seen(bob), undefined);
  await alice.call('cancelBatch', { params });
  await eventually(async () => (await seen())?.[0]?.startsWith('notified matrix') ?? false);
});
