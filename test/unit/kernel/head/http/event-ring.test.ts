// The records kept for followers: how many, how large, and what of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventRing, visibleEvents } from '../../../../../src/kernel/head/http/event-ring.ts';
import { PublicEvents } from '../../../../../src/kernel/head/http/public-events.ts';
import type { Event } from '../../../../../src/kernel/machine/declared.ts';
import type { NodeName, UserName } from '../../../../../src/kernel/model/ids.ts';
import { EngineBench } from '../../../../support/engine.ts';

const N1 = 'n1' as NodeName;
const ANN = { kind: 'user', name: 'ann' as UserName, role: 'user', uid: null } as const;

function drained(reason: string): Event {
  return { kind: 'node_drained', node: N1, reason, by: 'eve' };
}

test('large records push old ones out long before there are many', async () => {
  const { engine } = await new EngineBench().start();
  const ring = new EventRing(0, new PublicEvents([]));
  const large = 'x'.repeat(1_048_576);
  for (let seq = 1; seq <= 100; seq += 1) {
    ring.add({ seq, at: 0, events: [drained(large)] }, engine.state);
  }
  assert.equal(ring.newest, 100);
  assert.equal(ring.oldest, 100 - 7 + 1);
  assert.equal(ring.get(ring.oldest - 1), undefined);
  assert.notEqual(ring.get(ring.oldest), undefined);
  const huge = { seq: 101, at: 0, events: [drained('x'.repeat(40 * 1_048_576))] };
  ring.add(huge, engine.state);
  assert.deepEqual([ring.oldest, ring.newest], [101, 101], 'the newest stays however large');
  for (let seq = 102; seq <= 20_000; seq += 1) {
    ring.add({ seq, at: 0, events: [drained('hot')] }, engine.state);
  }
  assert.equal(ring.oldest, 10_001);
});

test('a jump of the numbers leaves nothing of before', async () => {
  const { engine } = await new EngineBench().start();
  const ring = new EventRing(0, new PublicEvents([]));
  ring.add({ seq: 1, at: 0, events: [drained('a')] }, engine.state);
  ring.add({ seq: 7, at: 0, events: [drained('b')] }, engine.state);
  assert.deepEqual([ring.oldest, ring.newest, ring.get(1)], [7, 7, undefined]);
});

test('only what is shown is kept', async () => {
  const { engine } = await new EngineBench().start();
  const ring = new EventRing(0, new PublicEvents([]));
  const enrolled: Event = {
    kind: 'node_enrolled',
    node: N1,
    secretHash: 'hush',
    resources: null,
    labels: [],
  };
  ring.add({ seq: 1, at: 0, events: [enrolled] }, engine.state);
  const record = ring.get(1);
  assert.ok(record !== undefined);
  assert.ok(!JSON.stringify(record).includes('hush'));
  const text = visibleEvents(record, ANN)[0]?.text ?? '';
  assert.deepEqual(JSON.parse(text), {
    kind: 'node_enrolled',
    node: N1,
    resources: null,
    labels: [],
  });
});
