// Events told to many: in beats, and encoded once for all who see the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventFeed, viewOf } from '../../../../../src/kernel/head/http/event-feed.ts';
import { EventRing } from '../../../../../src/kernel/head/http/event-ring.ts';
import { PublicEvents } from '../../../../../src/kernel/head/http/public-events.ts';
import type { UserActor } from '../../../../../src/kernel/model/actor.ts';
import type { NodeName, UserName } from '../../../../../src/kernel/model/ids.ts';
import { EngineBench } from '../../../../support/engine.ts';

const user = (name: string, role: UserActor['role']): UserActor => ({
  kind: 'user',
  name: name as UserName,
  role,
  uid: null,
});

async function start() {
  const { engine } = await new EngineBench().start();
  const ring = new EventRing(0, new PublicEvents([]));
  const beats: { then: () => void; isOff: boolean }[] = [];
  const after = (_: number, then: () => void) => {
    const beat = { then, isOff: false };
    beats.push(beat);
    return {
      cancel: () => {
        beat.isOff = true;
      },
    };
  };
  const feed = new EventFeed(ring, { after });
  const add = (seq: number): void => {
    const node = 'n1' as NodeName;
    ring.add({ seq, at: 0, events: [{ kind: 'node_undrained', node, by: 'eve' }] }, engine.state);
  };
  return { ring, feed, beats, add };
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
