// Frames between the client of a step and the helper on its node.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PIECE_BYTES_MAX } from '../../../../../src/wings/steps/core/limits.ts';
import {
  FrameReader,
  frame,
  inputFrames,
  readEnded,
  sizeFrame,
  TO_STEP,
} from '../../../../../src/wings/steps/wire/frames.ts';

test('what is cut anywhere is put together again', () => {
  const all = Buffer.concat([frame(1, Buffer.from('ab')), frame(2), frame(3, Buffer.from('c'))]);
  for (let at = 0; at <= all.length; at += 1) {
    const reader = new FrameReader();
    const parts = [reader.take(all.subarray(0, at)), reader.take(all.subarray(at))];
    const frames = parts.flatMap((part) => (part.ok ? part.value : assert.fail(part.error)));
    assert.deepEqual(
      frames.map(({ kind, payload }) => `${kind}${payload}`),
      ['1ab', '2', '3c'],
    );
  }
});

test('input goes in pieces that the helper has room for, and more is no frame', () => {
  const sizes = inputFrames(Buffer.alloc(2 * PIECE_BYTES_MAX + 1)).map(({ length }) => length);
  assert.deepEqual(sizes, [PIECE_BYTES_MAX + 5, PIECE_BYTES_MAX + 5, 6]);
  assert.equal(new FrameReader().take(frame(1, Buffer.alloc(PIECE_BYTES_MAX + 1))).ok, false);
});

test('sizes are bounded, and an end that is none is not read', () => {
  assert.deepEqual([...sizeFrame({ rows: 1e9, columns: 80 })].slice(5), [255, 255, 80, 0]);
  assert.equal(sizeFrame({ rows: 0, columns: 0 })[0], TO_STEP.size);
  assert.equal(readEnded(Buffer.alloc(3)), null);
  const end = Buffer.alloc(28);
  end.writeUInt32LE(3 << 8);
  assert.deepEqual(readEnded(end)?.exit, { code: 3 });
  end.writeUInt32LE(15);
  assert.deepEqual(readEnded(end)?.exit, { signal: 15 });
});
