// The table of what is known by rising numbers does what a Map does, and keeps hold of nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CallTable } from '../../../../../src/wings/calls/core/call-table.ts';

const step = fc.record({
  what: fc.constantFrom('add', 'add', 'add', 'delete', 'again', 'clear'),
  /** Far from the next number, or near. */
  back: fc.oneof(fc.nat(5), fc.nat(2000)),
});

test('whatever is done to it, it answers as a Map does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000, size: 'max' }), (steps) => {
      const table = new CallTable<{ at: number }>();
      const map = new Map<number, { at: number }>();
      let next = 1;
      for (const { what, back } of steps) {
        const number = what === 'add' ? next : Math.max(1, next - back);
        if (what === 'add') next += 1;
        if (what === 'delete') assert.equal(table.delete(number), map.delete(number));
        else if (what === 'clear' && back === 0) {
          table.clear();
          map.clear();
        } else {
          const item = { at: number };
          table.set(number, item);
          map.set(number, item);
        }
        assert.equal(table.get(number), map.get(number));
        assert.equal(table.size, map.size);
      }
      const sorted = [...map].sort(([one], [other]) => one - other);
      assert.deepEqual(
        table.values(),
        sorted.map(([, item]) => item),
      );
      for (let number = 0; number <= next; number += 1) {
        assert.equal(table.has(number), map.has(number));
      }
    }),
    { numRuns: 40 },
  );
});

test('one that stays long makes way for those after it, and is still found', () => {
  const table = new CallTable<{ at: number }>();
  const first = { at: 0 };
  table.set(0, first);
  for (let at = 1; at <= 100_000; at += 1) {
    table.set(at, { at });
    if (at > 100) assert.ok(table.delete(at - 100));
  }
  assert.equal(table.get(0), first);
  assert.equal(table.size, 101);
  assert.deepEqual(
    table.values().map(({ at }) => at),
    [0, ...Array.from({ length: 100 }, (_, at) => 99_901 + at)],
  );
});
