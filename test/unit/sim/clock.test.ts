// Virtual time: order, cancelling, and clocks that differ from it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Life, SimClock, Time } from '../../../sim/clock.ts';

function runAll(time: Time): void {
  while (time.step(Number.MAX_SAFE_INTEGER));
}

test('events happen in the order of time, and of asking where the time is the same', () => {
  const time = new Time();
  const seen: string[] = [];
  for (const [at, name] of [
    [5, 'c'],
    [1, 'a'],
    [5, 'd'],
    [3, 'b'],
  ] as const) {
    time.after(at, () => seen.push(`${name}${time.now}`));
  }
  runAll(time);
  assert.deepEqual(seen, ['a1', 'b3', 'c5', 'd5']);
});

test('many events come out sorted', () => {
  const time = new Time();
  const seen: number[] = [];
  for (let at = 0; at < 500; at += 1) time.after((at * 7919) % 503, () => seen.push(time.now));
  runAll(time);
  assert.deepEqual(
    seen,
    [...seen].sort((a, b) => a - b),
  );
  assert.equal(seen.length, 500);
});

test('a cancelled event does not happen, nor does one of a life that is over', () => {
  const time = new Time();
  const life = new Life();
  const clock = new SimClock(time, life, { rate: 1, wallMs: 0, bootedAt: 0 });
  const seen: string[] = [];
  time.after(1, () => seen.push('cancelled')).cancel();
  clock.after(3, () => seen.push('after its life'));
  time.after(2, () => {
    life.alive = false;
  });
  runAll(time);
  assert.deepEqual(seen, []);
});

test('a fast clock fires early and counts more', () => {
  const time = new Time();
  const clock = new SimClock(time, new Life(), { rate: 2, wallMs: 0, bootedAt: 0 });
  const before = clock.monotonic();
  let elapsed = 0;
  let firedAt = 0;
  clock.after(100, () => {
    elapsed = clock.monotonic() - before;
    firedAt = time.now;
  });
  runAll(time);
  assert.equal(firedAt, 50);
  assert.equal(elapsed, 100);
});
