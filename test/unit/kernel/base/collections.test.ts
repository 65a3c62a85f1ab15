// IntervalSet and SortedList against the plainest thing that does the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BrokenInvariant } from '../../../../src/kernel/base/assert.ts';
import { IntervalSet } from '../../../../src/kernel/base/interval-set.ts';
import { SortedList } from '../../../../src/kernel/base/sorted-list.ts';

const numbers = (set: Set<number>): number[] => [...set].sort((a, b) => a - b);

/** Adds a range, removes a value, or removes another set. */
const operation = fc.record({
  kind: fc.constantFrom('add', 'delete', 'subtract'),
  from: fc.nat(60),
  length: fc.nat(12),
  others: fc.array(fc.nat(70), { maxLength: 20, size: 'max' }),
});

test('an IntervalSet behaves as a set of numbers, with as few ranges as can be', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 40, size: 'max' }), (operations) => {
      const set = new IntervalSet();
      const model = new Set<number>();
      for (const { kind, from, length, others } of operations) {
        if (kind === 'add') {
          set.addRange(from, from + length);
          for (let value = from; value <= from + length; value += 1) model.add(value);
        } else if (kind === 'delete') {
          assert.equal(set.delete(from), model.delete(from));
        } else {
          set.subtract(IntervalSet.of(others.map((value) => [value, value] as const)));
          for (const value of others) model.delete(value);
        }
        assert.deepEqual([...set], numbers(model));
        assert.equal(set.size, model.size);
        assert.equal(set.first, numbers(model)[0]);
        for (let value = 0; value < 75; value += 1) assert.equal(set.has(value), model.has(value));
        set.intervals().forEach(([low], at, all) => {
          assert.ok(
            at === 0 || low > (all[at - 1]?.[1] ?? 0) + 1,
            'ranges neither touch nor overlap',
          );
        });
      }
    }),
    { numRuns: 300 },
  );
});

test('an IntervalSet prints ranges', () => {
  const set = IntervalSet.of([
    [0, 99],
    [120, 120],
    [200, 210],
  ]);
  assert.equal(set.toString(), '0-99,120,200-210');
  assert.equal(new IntervalSet().toString(), '');
});

test('an IntervalSet takes no negative, broken or backward range', () => {
  for (const [from, to] of [
    [-1, 2],
    [0.5, 2],
    [3, 2],
    [Number.NaN, 1],
  ] as const) {
    assert.throws(() => new IntervalSet().addRange(from, to), BrokenInvariant);
  }
});

test('a SortedList stays in order through thousands of insertions and removals', () => {
  const edits = fc.array(fc.record({ value: fc.nat(4000), remove: fc.boolean() }), {
    maxLength: 3000,
    size: 'max',
  });
  fc.assert(
    fc.property(edits, (list) => {
      const sorted = new SortedList<number>((a, b) => a - b);
      const model = new Set<number>();
      for (const { value, remove } of list) {
        if (!model.has(value)) {
          sorted.insert(value);
          model.add(value);
        } else if (remove) {
          sorted.remove(value);
          model.delete(value);
        }
      }
      assert.deepEqual([...sorted], numbers(model));
      assert.equal(sorted.size, model.size);
      assert.equal(sorted.first, numbers(model)[0]);
    }),
    { numRuns: 40 },
  );
});

test('removing from a SortedList what is not in it is a bug', () => {
  const sorted = new SortedList<number>((a, b) => a - b);
  assert.throws(() => sorted.remove(1), BrokenInvariant);
  sorted.insert(2);
  assert.throws(() => sorted.remove(1), BrokenInvariant);
  assert.throws(() => sorted.remove(3), BrokenInvariant);
  sorted.remove(2);
  assert.equal(sorted.first, undefined);
});
