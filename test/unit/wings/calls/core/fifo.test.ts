// The queue gives back what it was given, in order, whatever the turns of its ring.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Fifo } from '../../../../../src/wings/calls/core/fifo.ts';

test('what comes out is what went in, in order', () => {
  const steps = fc.array(fc.record({ push: fc.nat(9000), shift: fc.nat(9000) }), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (all) => {
      const fifo = new Fifo<number>();
      let [next, first] = [0, 0];
      for (const { push, shift } of all) {
        for (let count = 0; count < push; count += 1) fifo.push(next++);
        assert.equal(fifo.length, next - first);
        for (let count = 0; count < shift; count += 1) {
          assert.equal(fifo.first, first < next ? first : undefined);
          assert.equal(fifo.shift(), first < next ? first : undefined);
          first = Math.min(first + 1, next);
        }
      }
      assert.equal(fifo.length, next - first);
    }),
    { numRuns: 30 },
  );
});

test('what is kept stays in its order, wherever the ring begins', () => {
  const sizes = fc.record({
    shift: fc.nat(5000),
    push: fc.nat(10_000),
    modulus: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(sizes, ({ shift, push, modulus }) => {
      const fifo = new Fifo<number>();
      for (let at = 0; at < shift; at += 1) fifo.push(-1);
      for (let at = 0; at < shift; at += 1) fifo.shift();
      for (let at = 0; at < push; at += 1) fifo.push(at);
      fifo.retain((item) => item % modulus === 0);
      fifo.push(push);
      const all: number[] = [];
      for (let one = fifo.shift(); one !== undefined; one = fifo.shift()) all.push(one);
      const kept = Array.from({ length: Math.ceil(push / modulus) }, (_, at) => at * modulus);
      assert.deepEqual(all, [...kept, push]);
    }),
    { numRuns: 30 },
  );
});
