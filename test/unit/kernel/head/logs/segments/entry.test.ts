// Entries of a segment as bytes: what was encoded is found, and nothing that is torn or damaged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeHead,
  type SmallPlace,
  scanEntries,
} from '../../../../../../src/kernel/head/logs/segments/entry.ts';

function placeOf(index: number): SmallPlace {
  return { index, epoch: 1, nodeRank: 0, rank: 0, stream: 'stdout' };
}

function entryOf(place: SmallPlace, text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([encodeHead(place, bytes), bytes]);
}

const places = fc.record(
  {
    index: fc.nat(999_999_999),
    epoch: fc.integer({ min: 1, max: 999_999_999 }),
    nodeRank: fc.nat(999_999_999),
    rank: fc.nat(999_999_999),
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
  },
  { noNullPrototype: true },
);

test('[W10] every whole entry of a segment that was cut off anywhere is found, and no other', () => {
  const outputs = fc.array(fc.tuple(places, fc.string({ maxLength: 40 })), { maxLength: 6 });
  fc.assert(
    fc.property(outputs, fc.double({ min: 0, max: 1, noNaN: true }), (all, share) => {
      const entries = all.map(([place, text]) => entryOf(place, text));
      const whole = Buffer.concat(entries);
      const cut = whole.subarray(0, Math.floor(whole.length * share));
      let end = 0;
      const expected: [SmallPlace, string][] = [];
      for (const [at, entry] of entries.entries()) {
        if (end + entry.length > cut.length) break;
        end += entry.length;
        expected.push(all[at] as [SmallPlace, string]);
      }
      const { found, next, isTorn } = scanEntries(cut);
      const texts = found.map(({ place, from, length }) => [
        place,
        cut.toString('utf8', from, from + length),
      ]);
      assert.deepEqual(texts, expected);
      assert.deepEqual({ next, isTorn }, { next: end, isTorn: false });
    }),
  );
});

test('[W10] zeros, or a head with a wrong bit, are no entry', () => {
  const first = entryOf(placeOf(1), 'one');
  const damaged = entryOf(placeOf(2), 'two');
  damaged.writeUInt8(damaged.readUInt8(13) ^ 1, 13);
  for (const tail of [Buffer.alloc(100), damaged]) {
    const { found, next, isTorn } = scanEntries(Buffer.concat([first, tail]));
    assert.deepEqual([found.length, next, isTorn], [1, first.length, true]);
  }
});

test('[W10] an output with a wrong bit is left out, and those after it are found', () => {
  const damaged = entryOf(placeOf(1), 'one');
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1);
  const { found, isTorn } = scanEntries(Buffer.concat([damaged, entryOf(placeOf(2), 'two')]));
  assert.deepEqual([found.map(({ place }) => place.index), isTorn], [[2], false]);
});
