// What client and server of a step say to each other: a kind, a length, and so many bytes.

import type { Socket } from 'node:net';

export const KINDS = ['start', 'stdin', 'stdin_end', 'signal', 'stdout', 'stderr', 'end'] as const;
export type Kind = (typeof KINDS)[number];

/** `start`: the command line. `signal`: a name. `end`: JSON of `StepEnd`. Else bytes, or none. */
export interface Frame {
  readonly kind: Kind;
  readonly body: Buffer;
}

/** How the command ended: exactly one of the three. */
export interface StepEnd {
  readonly code?: number;
  readonly signal?: string;
  /** Why the step could not be started. */
  readonly problem?: string;
}

const HEADER_BYTES = 5;
/** Bytes of one frame: as long as a command line may be on Linux, and a bit. */
export const FRAME_BYTES_MAX = 2_200_000;

/** Writes the bytes in frames; false when the other side should be waited for. */
export function writeBytes(socket: Socket, kind: Kind, bytes: Buffer): boolean {
  let goesOn = true;
  for (let at = 0; at < bytes.length; at += FRAME_BYTES_MAX) {
    goesOn = writeFrame(socket, kind, bytes.subarray(at, at + FRAME_BYTES_MAX));
  }
  return goesOn;
}

/** False when the other side should be waited for. */
export function writeFrame(socket: Socket, kind: Kind, body: Buffer | string = ''): boolean {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(KINDS.indexOf(kind), 0);
  header.writeUInt32BE(bytes.length, 1);
  socket.cork();
  socket.write(header);
  const goesOn = socket.write(bytes);
  socket.uncork();
  return goesOn;
}

/** Puts frames together again from what arrives. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are whole now. Throws on what is none. */
  take(bytes: Buffer): Frame[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    while (this.#rest.length >= HEADER_BYTES) {
      const kind = KINDS[this.#rest.readUInt8(0)];
      const length = this.#rest.readUInt32BE(1);
      if (kind === undefined || length > FRAME_BYTES_MAX) throw new Error('not a frame of a step');
      const end = HEADER_BYTES + length;
      if (this.#rest.length < end) break;
      frames.push({ kind, body: this.#rest.subarray(HEADER_BYTES, end) });
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}
