// When a task is kept to the cpus near its gpus, and which they are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Nearby, nearCpus } from '../../../../../src/wings/gpus/core/near-cpus.ts';

const MACHINE = new Map([
  [0, [0, 1, 2, 3]],
  [1, [4, 5, 6, 7]],
  [2, [8, 9]],
]);
const task = (cpuCount: number, ...parts: Nearby['parts']): Nearby => ({ cpuCount, parts });

for (const [name, one, before, expected] of [
  ['one card', task(2, 1), [], [4, 5, 6, 7]],
  ['two cards of one part', task(4, 1, 1), [], [4, 5, 6, 7]],
  ['cards of two parts', task(5, 2, 0), [], [8, 9, 0, 1, 2, 3]],
  ['more cpus than are there', task(5, 1), [], null],
  ['a card of which nothing is known', task(1, 1, undefined), [], null],
  ['a part that has no cpus for it', task(1, 7), [], null],
  ['all parts', task(1, 0, 1, 2), [], null],
  ['no cards', task(1), [], null],
  ['no cpus', task(0, 1), [], null],
  ['others there that leave enough', task(2, 1), [task(2, 1), task(9, 0)], [4, 5, 6, 7]],
  ['others there that leave too few', task(2, 1), [task(1, 1), task(2, 1, 2)], null],
] as const) {
  test(`[V32] a task is kept to cpus near its gpus, or may use any: ${name}`, () => {
    assert.deepEqual(nearCpus(one, before, MACHINE), expected);
  });
}

test('[V32] with one part of memory nothing is near', () => {
  assert.equal(nearCpus(task(1, 0), [], new Map([[0, [0, 1]]])), null);
  assert.equal(nearCpus(task(1, 0), [], new Map()), null);
});
