// The agent's own journal: runner events in frames of length, checksum and msgpack. What a crash
// tore off at the end was not acted upon, because a frame is written before anything is started.

import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr';
import { apply } from '../core/runner/apply.ts';
import { sumOf } from '../core/runner/books.ts';
import type { RunnerEvent } from '../core/runner/events.ts';
import { emptyState, type RunnerState } from '../core/runner/state.ts';
import type { JournalFile } from '../ports/journal-file.ts';

const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });
const HEADER_BYTES = 8;
/** Rewritten as a sum beyond this; a restart then reads it in some tens of milliseconds. */
const COMPACT_BYTES = 16 * 1_048_576;

interface Frame {
  readonly bootId: string;
  readonly events: readonly RunnerEvent[];
}

export class Journal {
  readonly #file: JournalFile;
  readonly #bootId: string;
  #bytes = 0;
  /** Size after the last compaction: a big state must not be rewritten at every append. */
  #floor = 0;

  constructor(file: JournalFile, bootId: string) {
    this.#file = file;
    this.#bootId = bootId;
  }

  /** The state as it was, and the file rewritten as its sum. */
  recover(): { readonly state: RunnerState; readonly sameBoot: boolean; readonly torn: boolean } {
    const state = emptyState();
    const { frames, torn } = readFrames(this.#file.read());
    for (const frame of frames) apply(state, frame.events);
    const sameBoot = frames.at(-1)?.bootId === this.#bootId;
    // Another boot has another monotonic clock; the lease counts from the next answer.
    if (!sameBoot) state.heardAt = null;
    this.#compact(state);
    return { state, sameBoot, torn };
  }

  /** Written when this returns; `state` is the state with these events. */
  append(events: readonly RunnerEvent[], state: RunnerState): void {
    if (this.#bytes > Math.max(COMPACT_BYTES, 4 * this.#floor)) {
      this.#compact(state);
      return;
    }
    const bytes = encodeFrame({ bootId: this.#bootId, events });
    this.#file.append(bytes);
    this.#bytes += bytes.length;
  }

  #compact(state: RunnerState): void {
    const events: RunnerEvent[] = [{ kind: 'state_restored', sum: sumOf(state) }];
    const bytes = encodeFrame({ bootId: this.#bootId, events });
    this.#file.replace(bytes);
    this.#bytes = bytes.length;
    this.#floor = bytes.length;
  }
}

function encodeFrame(frame: Frame): Uint8Array {
  const body = packr.pack(frame);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  bytes.writeUInt32LE(body.length, 0);
  bytes.writeUInt32LE(crc32(body), 4);
  body.copy(bytes, HEADER_BYTES);
  return bytes;
}

/** Every whole frame up to the first that is cut short or does not match its checksum. */
export function readFrames(content: Uint8Array): { frames: Frame[]; torn: boolean } {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const frames: Frame[] = [];
  let at = 0;
  while (at + HEADER_BYTES <= bytes.length) {
    const until = at + HEADER_BYTES + bytes.readUInt32LE(at);
    if (until > bytes.length) break;
    const body = bytes.subarray(at + HEADER_BYTES, until);
    if (crc32(body) !== bytes.readUInt32LE(at + 4)) break;
    frames.push(packr.unpack(body) as Frame);
    at = until;
  }
  return { frames, torn: at < bytes.length };
}
