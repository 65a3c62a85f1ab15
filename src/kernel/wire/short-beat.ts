// The short form of a heartbeat that tells nothing new: some numbers at fixed places, in place of a
// map. Most of what an idle cluster says is this, and its head reads it without msgpack.

import { err, ok, type Result } from '../base/result.ts';
import type { Heartbeat } from './messages.ts';

/** msgpack never begins anything with this byte. */
const SHORT_BEAT = 0xc1;
const MAY_WAIT = 1;
const NUMBERS_AT = 2;
const NUMBERS = 5;
const LENGTH = NUMBERS_AT + NUMBERS * 8;

export function isShortBeat(bytes: Uint8Array): boolean {
  return bytes[0] === SHORT_BEAT;
}

/** Whether the short form says all of it: there is no place for news. */
export function fitsShortBeat({ fault, presence, gpus, memory }: Heartbeat): boolean {
  return [fault, presence, gpus, memory].every((one) => one === undefined);
}

export function encodeShortBeat({ sentAt, at, load, mayWait }: Heartbeat): Uint8Array {
  const view = new DataView(new ArrayBuffer(LENGTH));
  view.setUint8(0, SHORT_BEAT);
  view.setUint8(1, mayWait ? MAY_WAIT : 0);
  const numbers = [sentAt, at, load.load1, load.memoryFreeBytes, load.diskFreeBytes];
  for (const [index, number] of numbers.entries()) view.setFloat64(NUMBERS_AT + index * 8, number);
  return new Uint8Array(view.buffer);
}

export function decodeShortBeat(bytes: Uint8Array): Result<Heartbeat, string> {
  if (bytes.length !== LENGTH) return err(`a short heartbeat has ${LENGTH} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, LENGTH);
  const number = (index: number): number => view.getFloat64(NUMBERS_AT + index * 8);
  const [sentAt, at, load1] = [number(0), number(1), number(2)];
  const [memoryFreeBytes, diskFreeBytes] = [number(3), number(4)];
  // Infinite or no number at all is one of them if their sum is.
  if (!Number.isFinite(sentAt + at + load1 + memoryFreeBytes + diskFreeBytes)) {
    return err('a short heartbeat has finite numbers');
  }
  const load = { load1, memoryFreeBytes, diskFreeBytes };
  const told = { kind: 'heartbeat', sentAt, at, load } as const;
  return ok((view.getUint8(1) & MAY_WAIT) === 0 ? told : { ...told, mayWait: true });
}
