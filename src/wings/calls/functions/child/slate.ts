// What a child has written down when it begins a call: memory that outlives it. So the ends of
// small calls go to the supervisor many at a time, and yet are known, with what had begun, however
// the child dies. Read while it runs, too: a call that takes long has not been told otherwise.

import { crc32 } from 'node:zlib';
import {
  type Frame,
  type FrameHead,
  HEAD_BYTES,
  readHead,
  TO_SUPERVISOR,
  writeHead,
} from './frames.ts';

/** What is larger goes at once. */
export const SLATE_BYTES = 16 * 1024;

/** Bytes of an entry's head: length of its frames, and their sum, which goes on from the last. */
const ENTRY_BYTES = 8;
const MOMENT_BYTES = 8;

/** Entries of frames, each written at once; the last frame of each tells which call begins. */
export class SlateWriter {
  readonly #write: (bytes: Uint8Array, at: number) => void;
  readonly #bytes = Buffer.allocUnsafe(SLATE_BYTES);
  /** Where the entry begins that is being made. */
  #from = 0;
  #to = ENTRY_BYTES;
  #sum = 0;

  constructor(write: (bytes: Uint8Array, at: number) => void) {
    this.#write = write;
  }

  /** False: there is no room for it. */
  add(head: FrameHead, ...bodies: readonly Uint8Array[]): boolean {
    const length = bodies.reduce((sum, body) => sum + body.length, 0);
    // The frame that tells of a beginning must find its place.
    if (this.#to + length + 2 * HEAD_BYTES + MOMENT_BYTES > SLATE_BYTES) return false;
    this.#head(head, length);
    for (const body of bodies) {
      this.#bytes.set(body, this.#to);
      this.#to += body.length;
    }
    return true;
  }

  /** From the beginning: the supervisor has all that was written here. */
  clear(): void {
    this.#from = 0;
    this.#to = ENTRY_BYTES;
    this.#sum = 0;
  }

  /** This call begins: it is known when this returns, with all that was added. */
  begin(run: number, at: number): void {
    this.#head({ kind: TO_SUPERVISOR.starting, a: run }, MOMENT_BYTES);
    this.#to = this.#bytes.writeDoubleLE(at, this.#to);
    const frames = this.#bytes.subarray(this.#from + ENTRY_BYTES, this.#to);
    this.#sum = crc32(frames, this.#sum);
    this.#bytes.writeUInt32LE(frames.length, this.#from);
    this.#bytes.writeUInt32LE(this.#sum, this.#from + 4);
    this.#write(this.#bytes.subarray(this.#from, this.#to), this.#from);
    this.#from = this.#to;
    this.#to += ENTRY_BYTES;
  }

  #head(head: FrameHead, bytes: number): void {
    writeHead(this.#bytes, this.#to, head, bytes);
    this.#to += HEAD_BYTES;
  }
}

/**
 * What stands there. What is behind the last whole entry is of earlier times, or was being written
 * when the child died: it counts as not written.
 */
export function readSlate(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let sum = 0;
  for (let at = 0; at + ENTRY_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    const entry = bytes.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + length);
    if (length === 0 || entry.length < length) break;
    sum = crc32(entry, sum);
    if (sum !== bytes.readUInt32LE(at + 4)) break;
    frames.push(...framesOf(Buffer.from(entry)));
    at += ENTRY_BYTES + length;
  }
  return frames;
}

function framesOf(entry: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + HEAD_BYTES <= entry.length; ) {
    const end = at + HEAD_BYTES + entry.readUInt32LE(at);
    if (end > entry.length) break;
    const { kind, a } = readHead(entry, at);
    frames.push({ kind, a, bytes: entry.subarray(at + HEAD_BYTES, end) });
    at = end;
  }
  return frames;
}
