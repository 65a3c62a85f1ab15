// The generator behind every run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dice } from '../../../sim/chance.ts';

function draw(dice: Dice, count: number): number[] {
  return Array.from({ length: count }, () => dice.fraction());
}

test('the same seed gives the same numbers, another seed gives others', () => {
  assert.deepEqual(draw(new Dice(7), 50), draw(new Dice(7), 50));
  assert.notDeepEqual(draw(new Dice(7), 50), draw(new Dice(8), 50));
  assert.notDeepEqual(draw(new Dice(7), 50), draw(new Dice(7 + 2 ** 32), 50));
});

test('a fork does not depend on what is drawn from its parent afterwards', () => {
  const one = new Dice(7);
  const other = new Dice(7);
  const fork = one.fork();
  const same = other.fork();
  draw(other, 10);
  assert.deepEqual(draw(fork, 20), draw(same, 20));
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
