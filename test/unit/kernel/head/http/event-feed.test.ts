// Events told to many: in beats, encoded once for all who see the same, and whole or brief.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventFeed } from '../../../../../src/kernel/head/http/event-feed.ts';
import { BRIEF, viewOf, WHOLE } from '../../../../../src/kernel/head/http/event-pieces.ts';
import { EventRing } from '../../../../../src/kernel/head/http/event-ring.ts';
import { PublicEvents } from '../../../../../src/kernel/head/http/public-events.ts';
import type { Event } from '../../../../../src/kernel/machine/declared.ts';
import type { UserActor } from '../../../../../src/kernel/model/actor.ts';
import type { EpochId, JobId, NodeName, UserName } from '../../../../../src/kernel/model/ids.ts';
import { EngineBench } from '../../../../support/engine.ts';

const N1 = 'n1' as NodeName;
const user = (name: string, role: UserActor['role']): UserActor => ({
  kind: 'user',
  name: name as UserName,
  role,
  uid: null,
});

async function start(telling = WHOLE) {
  const { engine } = await new EngineBench().start();
  const ring = new EventRing(0, new PublicEvents([]));
  const beats: { ms: number; then: () => void; isOff: boolean }[] = [];
  const after = (ms: number, then: () => void) => {
    const beat = { ms, then, isOff: false };
    beats.push(beat);
    return {
      cancel: () => {
        beat.isOff = true;
      },
    };
  };
  const feed = new EventFeed(ring, { after }, telling);
  const undrained: Event = { kind: 'node_undrained', node: N1, by: 'eve' };
  const add = (seq: number, events: readonly Event[] = [undrained]): void =>
    ring.add({ seq, at: 10 * seq, events }, engine.state);
  return { ring, feed, beats, add };
}

function done(jobId: number, index: number): Event {
  const place = { jobId: jobId as JobId, index };
  return { kind: 'task_done', place, outcome: { kind: 'completed' }, abandoned: [] };
}

function storing(epochId: string): Event {
  return { kind: 'part_storing', epochId: epochId as EpochId, node: N1, since: 0 };
}

test('the first event is told at once, those of a beat together, and none is left', async () => {
  const { ring, feed, beats, add } = await start();
  const told: number[] = [];
  const stop = feed.onNews(() => told.push(ring.newest));
  add(1);
  assert.deepEqual(told, [1]);
  add(2);
  add(3);
  assert.deepEqual(told, [1]);
  beats.at(-1)?.then();
  assert.deepEqual(told, [1, 3]);
  beats.at(-1)?.then();
  assert.deepEqual(told, [1, 3], 'nothing is new');
  add(4);
  assert.deepEqual(told, [1, 3, 4]);
  stop();
  assert.equal(beats.at(-1)?.isOff, true, 'no timer is left without readers');
});

test('readers who see the same share the bytes, and others do not', async () => {
  const { feed, add } = await start();
  feed.onNews(() => undefined);
  for (const seq of [1, 2]) add(seq);
  const piece = (of: UserActor, filter = {}) => feed.after(0, viewOf(of, filter));
  const first = piece(user('olga', 'operator'));
  assert.equal(piece(user('otto', 'operator'))?.bytes, first?.bytes);
  assert.notEqual(piece(user('adam', 'admin'))?.bytes, first?.bytes);
  const alice = piece(user('alice', 'user'));
  assert.equal(piece(user('alice', 'user'))?.bytes, alice?.bytes);
  assert.notEqual(piece(user('bob', 'user'))?.bytes, alice?.bytes);
  const none = piece(user('alice', 'user'), { kind: ['job_done'] });
  assert.deepEqual(none, { bytes: null, sent: 2, announced: 0 });
  assert.match(String(first?.bytes), /^id: 1\ndata: \{"seq":1,.*\}\n\nid: 2\n/);
});

test('[D22] a brief reader is told once of what is alike, and how often, up to the last record', async () => {
  const { feed, beats, add } = await start(BRIEF);
  feed.onNews(() => undefined);
  add(1, [storing('7[0]#1'), done(7, 0)]);
  add(2, [done(7, 1), done(8, 0)]);
  add(3, [done(7, 2)]);
  add(4);
  const piece = feed.after(0, viewOf(user('adam', 'admin'), {}));
  const events = [
    { kind: 'part_storing', jobId: 7 },
    { kind: 'task_done', jobId: 7, count: 3 },
    { kind: 'task_done', jobId: 8 },
    { kind: 'node_undrained', node: 'n1', by: 'eve' },
  ];
  const data = JSON.stringify({ seq: 4, at: 40, events });
  assert.deepEqual(
    [String(piece?.bytes), piece?.sent, piece?.announced],
    [`id: 4\ndata: ${data}\n\n`, 4, 4],
  );
  assert.deepEqual(
    beats.map(({ ms }) => ms),
    [250],
  );
});

test('[D22] a brief reader sees no event that a whole reader of the same rights does not', async () => {
  const { feed, add } = await start(BRIEF);
  feed.onNews(() => undefined);
  add(1, [done(7, 0)]);
  const none = { bytes: null, sent: 1, announced: 0 };
  // Whose job 7 is nobody knows here, and then only admins see it.
  assert.deepEqual(feed.after(0, viewOf(user('alice', 'user'), {})), none);
  const admin = user('adam', 'admin');
  assert.match(String(feed.after(0, viewOf(admin, {}))?.bytes), /"kind":"task_done","jobId":7}/);
  assert.deepEqual(feed.after(0, viewOf(admin, { job: [8] })), none);
  assert.deepEqual(feed.after(0, viewOf(admin, { kind: ['job_done'] })), none);
  add(3);
  assert.equal(feed.after(0, viewOf(admin, {})), null, 'record 1 has left memory');
});
