// What notifications say, and what is said of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { News } from '../../../../../src/kernel/model/notification.ts';
import { messageOfAll } from '../../../../../src/wings/notify/head/message.ts';
import { sayDelivery } from '../../../../../src/wings/notify/head/notification-words.ts';
import type { Delivery } from '../../../../../src/wings/notify/machine/facts.ts';
import { message, NEWS } from './fixture.ts';

const title = (news: Partial<News>): string => message(news).title;
const BATCH = { subject: { kind: 'batch', batch: 'lab/heat@2' }, name: 'heat' } as const;

test('a title says in one line how it ended', () => {
  assert.equal(title({}), 'Job 42 (train) failed: exit code 3');
  assert.equal(title({ outcome: 'completed' }), 'Job 42 (train) completed');
  assert.equal(
    title({ outcome: 'timeout', exit: { signal: 15 } }),
    'Job 42 (train) exceeded its time limit: signal 15',
  );
  assert.equal(
    title({ detail: 'exited with code 3 on n1' }),
    'Job 42 (train) failed: exited with code 3 on n1',
  );
  assert.equal(title({ counts: { completed: 3 } }), 'Job 42 (train): all 3 tasks completed');
  assert.equal(
    title({ counts: { completed: 3, failed: 2, out_of_memory: 1 } }),
    'Job 42 (train): 3 of 6 tasks completed, 2 failed, 1 out of memory',
  );
  assert.equal(
    title({ ...BATCH, counts: { failed: 2 } }),
    'Batch lab/heat@2: 0 of 2 jobs completed, 2 failed',
  );
  const unbuilt = {
    outcome: 'build_failed',
    counts: { build_failed: 2 },
    detail: 'see its log',
  } as const;
  assert.equal(
    title({ ...BATCH, ...unbuilt }),
    'Batch lab/heat@2 failed to build on every node: see its log',
  );
  assert.equal(title({ detail: 'x'.repeat(9999) }).length, 400);
});

test('the text says where and when, and several are a line each', () => {
  assert.equal(
    message().text,
    'Job 42 (train) failed: exit code 3\nCluster lab, user ann; submitted 2023-11-14T22:13:20Z, ran 1m40s, ended 2023-11-14T22:16:00Z.\nOutput: weft logs 42',
  );
  assert.match(message({ startedAt: null }).text, /, never started, ended .*\.$/);
  const many = messageOfAll([NEWS, { ...NEWS, ...BATCH }], 'lab');
  assert.equal(many.title, 'Job 42 (train) failed: exit code 3, and 1 more');
  assert.match(
    many.text,
    /^2 messages from cluster lab:\nJob 42 .*\nBatch lab\/heat@2 failed: exit code 3$/,
  );
  assert.equal(many.id, `${message().id}-and-1`);
});

test('what became of telling somebody is one sentence', () => {
  const delivery: Delivery = {
    target: 'webhook:https://ci.lab/secret',
    state: 'waiting',
    tries: 0,
    triedAt: null,
    nextAt: 1000,
    why: null,
  };
  const say = (more: Partial<Delivery>) => sayDelivery({ ...delivery, ...more }, 0);
  assert.equal(say({}), 'not yet notified webhook:https://ci.lab/…');
  const failed = { tries: 3, triedAt: 0, nextAt: 240_000, why: 'connection refused' };
  assert.equal(
    say(failed),
    'not yet notified webhook:https://ci.lab/…: connection refused; 3 attempts, next one in 4m',
  );
  assert.match(say({ ...failed, nextAt: 0 }), /; 3 attempts, next one now$/);
  assert.equal(
    say({ state: 'told', triedAt: 0 }),
    'notified webhook:https://ci.lab/… at 1970-01-01T00:00:00Z',
  );
  assert.equal(
    say({ ...failed, state: 'given_up' }),
    'gave up notifying webhook:https://ci.lab/… at 1970-01-01T00:00:00Z after 3 attempts: connection refused',
  );
});
