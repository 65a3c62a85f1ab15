// The stream of a step over lines that are cut at any moment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WINDOW_BYTES } from '../../../../../src/wings/steps/core/limits.ts';
import { Channel } from '../../../../../src/wings/steps/wire/channel.ts';

/** One side, with what came to it. */
function side(taken: 'at once' | 'never' = 'at once') {
  const heard: Buffer[] = [];
  const told = { drained: 0, bye: 0 };
  const channel: Channel = new Channel({
    bytes: (bytes) => {
      heard.push(bytes);
      if (taken === 'at once') channel.take(bytes.length);
    },
    drained: () => (told.drained += 1),
    joined: () => undefined,
    bye: () => (told.bye += 1),
  });
  return { channel, told, text: () => Buffer.concat(heard).toString('latin1') };
}

type Side = ReturnType<typeof side>;

/** A line whose bytes are carried when the test says so, and lost when it is cut. */
class Line {
  #toA: Buffer[] = [];
  #toB: Buffer[] = [];
  readonly a: Side;
  readonly b: Side;

  constructor(a: Side, b: Side) {
    this.a = a;
    this.b = b;
    a.channel.open((bytes) => this.#toB.push(bytes));
    b.channel.open((bytes) => this.#toA.push(bytes));
  }

  /** Up to so many bytes in each direction, in pieces that respect no message. */
  carry(bytesMax = Number.POSITIVE_INFINITY): void {
    for (let left = bytesMax; left > 0 && this.#toA.length + this.#toB.length > 0; ) {
      left -= this.#some(this.#toB, this.b, left) + this.#some(this.#toA, this.a, left);
    }
  }

  cut(): void {
    this.a.channel.cut();
    this.b.channel.cut();
  }

  #some(queue: Buffer[], to: Side, left: number): number {
    const all = Buffer.concat(queue.splice(0));
    const part = all.subarray(0, Math.min(all.length, left));
    if (part.length < all.length) queue.push(all.subarray(part.length));
    if (part.length > 0) assert.deepEqual(to.channel.feed(part), { ok: true, value: null });
    return part.length;
  }
}

test('[Z4] each byte comes once and in order, whenever lines are cut', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), text: fc.string({ minLength: 1 }) }),
    fc.record({ kind: fc.constant('carry' as const), bytes: fc.nat(40) }),
    fc.record({ kind: fc.constant('cut' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step), fc.array(fc.boolean()), (steps, turns) => {
      const [a, b] = [side(), side()];
      let line = new Line(a, b);
      const sent = { a: '', b: '' };
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'write') {
          const bytes = Buffer.from(one.text);
          const from = turns[at % Math.max(1, turns.length)] === true ? 'a' : 'b';
          (from === 'a' ? a : b).channel.write(bytes);
          sent[from] += bytes.toString('latin1');
        } else if (one.kind === 'carry') line.carry(one.bytes);
        else {
          line.cut();
          line = new Line(a, b);
        }
      }
      line.cut();
      new Line(a, b).carry();
      assert.equal(b.text(), sent.a);
      assert.equal(a.text(), sent.b);
    }),
  );
});

test('[Z4] no more than a window is on the way to a reader that takes nothing', () => {
  const [a, b] = [side(), side('never')];
  const line = new Line(a, b);
  line.carry();
  const piece = Buffer.alloc(WINDOW_BYTES / 2);
  assert.equal(a.channel.write(piece), true);
  assert.equal(a.channel.write(piece), false);
  line.carry();
  assert.equal(a.told.drained, 0);
  b.channel.take(WINDOW_BYTES);
  line.carry();
  assert.equal(a.told.drained, 1);
  assert.equal(a.channel.waitingBytes, 0);
});

test('the word that no line is needed comes after what was written, also on a later line', () => {
  const [a, b] = [side(), side()];
  const line = new Line(a, b);
  a.channel.write(Buffer.from('last'));
  a.channel.end();
  line.cut();
  new Line(a, b).carry();
  assert.deepEqual([b.text(), b.told.bye], ['last', 1]);
});

test('a side that has lost what it was sent is no side of this stream', () => {
  const a = side();
  new Line(a, side()).carry();
  a.channel.write(Buffer.from('some'));
  const beyond = Buffer.from([0x4a, 9, 0, 0, 0, 0, 0, 0, 0]);
  a.channel.open(() => undefined);
  assert.equal(a.channel.feed(beyond).ok, false);
  assert.equal(side().channel.feed(Buffer.from('GET / HTTP/1.1')).ok, false);
});

test('[Z4] a side that sends beyond what is taken ends the line, and nothing more of it is heard', () => {
  const reader = side('never');
  reader.channel.open(() => undefined);
  const piece = Buffer.alloc(5 + WINDOW_BYTES);
  piece[0] = 0x42;
  piece.writeUInt32LE(WINDOW_BYTES, 1);
  const join = Buffer.from([0x4a, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.equal(reader.channel.feed(join).ok, true);
  assert.equal(reader.channel.feed(piece).ok, true);
  assert.equal(reader.channel.feed(piece).ok, true);
  assert.equal(reader.channel.feed(piece).ok, false);
  reader.channel.take(2 * WINDOW_BYTES);
  reader.channel.feed(piece);
  assert.equal(reader.text().length, 2 * WINDOW_BYTES);
  // How much was received is said once.
  reader.channel.open(() => undefined);
  assert.equal(reader.channel.feed(join).ok, true);
  assert.equal(reader.channel.feed(join).ok, false);
});
