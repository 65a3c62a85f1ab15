// The generator behind every run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dice, Streams } from '../../../sim/chance.ts';
import { Time } from '../../../sim/clock.ts';
import { Recurring } from '../../../sim/recurring.ts';

function draw(dice: Dice, count: number): number[] {
  return Array.from({ length: count }, () => dice.fraction());
}

test('the same seed gives the same numbers, another seed gives others', () => {
  assert.deepEqual(draw(new Dice(7), 50), draw(new Dice(7), 50));
  assert.notDeepEqual(draw(new Dice(7), 50), draw(new Dice(8), 50));
  assert.notDeepEqual(draw(new Dice(7), 50), draw(new Dice(7 + 2 ** 32), 50));
});

test('what a stream gives depends on the seed and its name alone', () => {
  const one = new Streams(7);
  const other = new Streams(7);
  draw(other.of('new weather'), 10);
  draw(other.under('net').of('n2'), 10);
  assert.deepEqual(draw(one.of('net n1'), 20), draw(other.under('net').of('n1'), 20));
  assert.notDeepEqual(draw(one.of('net n2'), 20), draw(new Streams(7).of('net n3'), 20));
  assert.notDeepEqual(draw(one.of('x'), 20), draw(new Streams(8).of('x'), 20));
});

test('a stream that is asked for again goes on where it is', () => {
  const streams = new Streams(7);
  const first = draw(streams.of('net n1'), 5);
  const rest = draw(streams.under('net').of('n1'), 5);
  assert.deepEqual([...first, ...rest], draw(new Streams(7).of('net n1'), 10));
});

test('another rate of one kind shifts nothing of another kind', () => {
  const happened = (often: number): string[] => {
    const time = new Time();
    const all: string[] = [];
    const recurring = new Recurring(time, new Streams(7));
    recurring.every('cut', 100, (dice) => all.push(`${time.now} ${dice.whole(1, 1000)}`));
    recurring.every('crash', often, (dice) => dice.whole(1, 6));
    while (time.step(5000));
    return all;
  };
  assert.ok(happened(100).length > 20);
  assert.deepEqual(happened(1), happened(100));
});

test('whole numbers cover their range evenly, both ends included', () => {
  const dice = new Dice(1);
  const counts = new Map<number, number>();
  for (let turn = 0; turn < 6000; turn += 1) {
    const value = dice.whole(1, 6);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  assert.deepEqual([...counts.keys()].sort(), [1, 2, 3, 4, 5, 6]);
  for (const count of counts.values()) assert.ok(count > 850 && count < 1150, `${count} of 6000`);
});

test('waiting times have the mean that was asked for', () => {
  const dice = new Dice(2);
  let sum = 0;
  for (let turn = 0; turn < 5000; turn += 1) sum += dice.waitMs(1000);
  assert.ok(Math.abs(sum / 5000 - 1000) < 60, `${sum / 5000}`);
});
