// The simulated network: order within a session, stalls, loss, and who hears of an end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Streams } from '../../../sim/chance.ts';
import { Life, Time } from '../../../sim/clock.ts';
import { Link } from '../../../sim/net.ts';

function setUp(duplicates = 0) {
  const time = new Time();
  const got: number[] = [];
  const closed: string[] = [];
  const link = new Link('n1', {
    time,
    streams: new Streams(3),
    duplicates,
    onDelivery: (_link, delivery) => delivery.hand(),
  });
  link.delayMs = { min: 1, max: 50 };
  const pair = link.open(new Life(), new Life());
  pair.head.onMessage((bytes) => got.push(bytes[0] as number));
  pair.head.onClose((why) => closed.push(`head: ${why}`));
  pair.agent.onClose((why) => closed.push(`agent: ${why}`));
  const send = (from: number, to: number): void => {
    for (let at = from; at < to; at += 1) pair.agent.send(Uint8Array.of(at));
  };
  const run = (until: number): void => {
    while (time.step(until));
  };
  return { link, pair, got, closed, send, run };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

test('messages of a session arrive in order, however long each takes', () => {
  const { got, send, run } = setUp();
  send(0, 40);
  run(10_000);
  assert.deepEqual(got, numbers(40));
});

test('a stalled direction delivers everything in order once it is healed', () => {
  const { link, got, send, run } = setUp();
  send(0, 10);
  run(20);
  link.cut('to_head', 'stall');
  send(10, 20);
  run(500);
  assert.ok(got.length < 10);
  link.heal();
  send(20, 30);
  run(5000);
  assert.deepEqual(got, numbers(30));
});

test('after a lost message nothing arrives any more, and nobody is told', () => {
  const { link, got, closed, send, run } = setUp();
  send(0, 5);
  run(1000);
  link.cut('to_head', 'vanish');
  send(5, 10);
  run(2000);
  link.heal();
  send(10, 15);
  run(3000);
  assert.deepEqual(got, numbers(5));
  assert.deepEqual(closed, []);
});

test('closing tells the other side after what was sent before', () => {
  const { pair, got, closed, send, run } = setUp();
  send(0, 5);
  pair.agent.close('done');
  send(5, 6);
  run(1000);
  assert.deepEqual(got, numbers(5));
  assert.deepEqual(closed, ['agent: done', 'head: done']);
});

test('a reset ends both sides and loses what is on its way', () => {
  const { link, got, closed, send, run } = setUp();
  send(0, 5);
  link.reset();
  run(1000);
  assert.deepEqual(got, []);
  assert.equal(closed.length, 2);
});

test('a share of the messages comes twice, one right after the other', () => {
  const { got, send, run } = setUp(1);
  send(0, 3);
  run(1000);
  assert.deepEqual(got, [0, 0, 1, 1, 2, 2]);
});
