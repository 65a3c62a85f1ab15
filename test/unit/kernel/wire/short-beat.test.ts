// The short form of a heartbeat: what goes into it comes out, and nothing else is taken for one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, decodeAgentMessage } from '../../../../src/kernel/wire/codec.ts';
import type { Heartbeat } from '../../../../src/kernel/wire/messages.ts';
import { encodeShortBeat, fitsShortBeat } from '../../../../src/kernel/wire/short-beat.ts';

const BEAT: Heartbeat = {
  kind: 'heartbeat',
  sentAt: 1234.5678,
  at: 1_700_000_000_123,
  load: { load1: 0.25, memoryFreeBytes: 2 ** 40 + 1, diskFreeBytes: 7 },
};

test('[W1] a short heartbeat comes back as it was', () => {
  for (const beat of [BEAT, { ...BEAT, mayWait: true }]) {
    assert.deepEqual(decodeAgentMessage(encodeShortBeat(beat)), { ok: true, value: beat });
  }
});

test('a short heartbeat has 42 bytes, and is no msgpack', () => {
  const bytes = encodeShortBeat(BEAT);
  assert.equal(bytes.length, 42);
  assert.equal(decode(bytes).ok, false);
});

test('a heartbeat with news does not fit the short form', () => {
  assert.ok(fitsShortBeat(BEAT));
  const gpus = { cards: [], driver: null, remark: null };
  for (const news of [{ fault: 'hot' }, { presence: [] }, { gpus }, { memory: [] }]) {
    assert.ok(!fitsShortBeat({ ...BEAT, ...news }), Object.keys(news).join());
  }
});

test('[W2] a short heartbeat of another length, or without numbers, is refused with words', () => {
  const whole = encodeShortBeat(BEAT);
  const longer = Uint8Array.of(...whole, 0);
  const nan = encodeShortBeat({ ...BEAT, at: Number.NaN });
  const endless = encodeShortBeat({ ...BEAT, load: { ...BEAT.load, load1: Infinity } });
  for (const bytes of [whole.slice(0, 1), whole.slice(0, -1), longer, nan, endless]) {
    const read = decodeAgentMessage(bytes);
    assert.ok(!read.ok && /short heartbeat/.test(read.error), `${bytes.length} bytes`);
  }
});
