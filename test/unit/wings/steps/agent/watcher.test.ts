// Those who look at a step beside whoever started it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../../../../src/kernel/ports/clock.ts';
import { Watcher } from '../../../../../src/wings/steps/agent/watcher.ts';
import { WINDOW_BYTES } from '../../../../../src/wings/steps/core/limits.ts';
import type { StepLine } from '../../../../../src/wings/steps/ports/steps.ts';
import { Channel } from '../../../../../src/wings/steps/wire/channel.ts';
import { FROM_STEP, FrameReader, frame } from '../../../../../src/wings/steps/wire/frames.ts';

test('[Z16] who reads slowly misses what is beyond a window, and is told how much', async () => {
  const clock = { after: () => ({ cancel: () => undefined }) } as unknown as Clock;
  const seen: Buffer[] = [];
  const client: Channel = new Channel({
    bytes: (bytes) => seen.push(bytes),
    drained: () => undefined,
    joined: () => undefined,
    bye: () => undefined,
  });
  let said: Buffer = Buffer.alloc(0);
  let hear = (bytes: Buffer): void => {
    said = bytes;
  };
  let isGone = false;
  let cut: () => void = () => undefined;
  const line: StepLine = {
    send: (bytes) => void setImmediate(() => assert.ok(client.feed(bytes).ok)),
    onBytes: (heard) => {
      hear = heard;
    },
    onClose: (gone) => {
      cut = gone;
    },
    close: () => undefined,
  };
  const watcher = new Watcher({
    clock,
    dial: async () => line,
    gone: () => {
      isGone = true;
    },
  });
  client.open((bytes) => hear(bytes));
  await new Promise(setImmediate);
  hear(said);
  await new Promise(setImmediate);
  const piece = frame(FROM_STEP.output, Buffer.alloc(32 * 1024));
  const pieces = Math.ceil(WINDOW_BYTES / piece.length);
  for (let at = 0; at < pieces + 3; at++) watcher.show(piece);
  await new Promise(setImmediate);
  client.take(seen.reduce((sum, { length }) => sum + length, 0));
  watcher.end(frame(FROM_STEP.gone, Buffer.from('over')));
  await new Promise(setImmediate);
  const frames = new FrameReader().take(Buffer.concat(seen));
  const kinds = frames.ok ? frames.value : [];
  assert.equal(kinds.filter(({ kind }) => kind === FROM_STEP.output).length, pieces);
  const [told, last] = kinds.slice(-2);
  assert.match(String(told?.payload), new RegExp(`weft: ${3 * piece.length} bytes were left out`));
  assert.equal(String(last?.payload), 'over');
  cut();
  assert.ok(isGone, 'one whose line is lost is let go');
});
