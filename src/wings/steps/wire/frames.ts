// The frames of a step, from the client to the helper on the node and back: u8 kind, u32 length,
// payload (launcher/step.c). Head and agent pass them on.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { PIECE_BYTES_MAX } from '../core/limits.ts';
import type { StepUse, WindowSize } from '../core/told.ts';

/** To the program. */
export const TO_STEP = { input: 1, end: 2, size: 3, signal: 4, pmi: 5 } as const;
/**
 * From it. `pmi`: lines by which processes of MPI find each other. `failed`: it could not be
 * started. `gone`, of the agent: nobody knows of an exit; in words why.
 */
export const FROM_STEP = { output: 1, errors: 2, ended: 3, failed: 4, gone: 5, pmi: 6 } as const;

const HEADER = 5;

export interface Frame {
  readonly kind: number;
  readonly payload: Buffer;
}

export function frame(kind: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.alloc(HEADER + payload.length);
  bytes[0] = kind;
  bytes.writeUInt32LE(payload.length, 1);
  bytes.set(payload, HEADER);
  return bytes;
}

/** Frames of the bytes, as many as they need. */
export function inputFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES_MAX)
    frames.push(frame(TO_STEP.input, bytes.subarray(at, at + PIECE_BYTES_MAX)));
  return frames;
}

export function sizeFrame({ rows, columns }: WindowSize): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt16LE(Math.min(rows, 0xffff), 0);
  payload.writeUInt16LE(Math.min(columns, 0xffff), 2);
  return frame(TO_STEP.size, payload);
}

export function signalFrame(signal: number): Buffer {
  return frame(TO_STEP.signal, Uint8Array.of(signal));
}

/** Cuts what comes into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** An error: the other side does not speak of a step. */
  take(bytes: Uint8Array): Result<Frame[], string> {
    const all = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    let at = 0;
    while (all.length - at >= HEADER) {
      const length = all.readUInt32LE(at + 1);
      if (length > PIECE_BYTES_MAX) return err(`a frame of ${length} bytes`);
      if (all.length - at < HEADER + length) break;
      const payload = all.subarray(at + HEADER, at + HEADER + length);
      frames.push({ kind: all[at] as number, payload });
      at += HEADER + length;
    }
    this.#rest = all.subarray(at);
    return ok(frames);
  }
}

/** How a program ended, and what it has used. */
export interface Ended {
  readonly exit: { readonly code: number } | { readonly signal: number };
  readonly used: StepUse;
}

/** Null: no payload of an end. */
export function readEnded(payload: Buffer): Ended | null {
  if (payload.length !== 28) return null;
  const status = payload.readUInt32LE(0);
  const signal = status & 0x7f;
  return {
    exit: signal === 0 ? { code: (status >> 8) & 0xff } : { signal },
    used: {
      userUs: Number(payload.readBigUInt64LE(4)),
      systemUs: Number(payload.readBigUInt64LE(12)),
      memoryPeakBytes: Number(payload.readBigUInt64LE(20)) * 1024,
    },
  };
}
