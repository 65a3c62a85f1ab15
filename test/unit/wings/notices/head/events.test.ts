// Who follows what happens hears of the notice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventRing, visibleEvents } from '../../../../../src/kernel/head/http/event-ring.ts';
import { PublicEvents } from '../../../../../src/kernel/head/http/public-events.ts';
import type { Event } from '../../../../../src/kernel/machine/declared.ts';
import type { UserName } from '../../../../../src/kernel/model/ids.ts';
import { head } from '../../../../../src/wings/notices/head/part.ts';
import { EngineBench } from '../../../../support/engine.ts';

const ANN = { kind: 'user', name: 'ann' as UserName, role: 'user', uid: null } as const;

test('every user is told that a notice was set and taken away, as its page says', async () => {
  const { engine } = await new EngineBench().start();
  assert.ok(head.events);
  const ring = new EventRing(0, new PublicEvents([head.events]));
  const notice = { text: 'Cables', from: null, until: null, by: 'eve', at: 1 };
  const events: Event[] = [
    { kind: 'notice_set', notice },
    { kind: 'notice_cleared', by: 'eve' },
  ];
  ring.add({ seq: 1, at: 0, events }, engine.state);
  const record = ring.get(1);
  assert.ok(record);
  const seen = visibleEvents(record, ANN).map(({ text }) => JSON.parse(text) as unknown);
  assert.deepEqual(seen, events);
});
