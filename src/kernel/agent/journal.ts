// The agent's own journal: runner events in frames of length, checksum and msgpack. What a crash
// tore off at the end was not acted upon, because a frame is written before anything is started.

import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr/pack';
import { assert } from '../base/assert.ts';
import type { JournalFile } from '../ports/journal-file.ts';
import { apply } from '../runner/apply.ts';
import { sumOf } from '../runner/books.ts';
import { forgetBoot, type Now } from '../runner/epoch.ts';
import type { RunnerEvent } from '../runner/events.ts';
import { rebootEvents } from '../runner/progress.ts';
import { emptyState, type RunnerState } from '../runner/state.ts';
import { OrderReader, OrderWriter, type SentOrder } from '../wire/orders.ts';

const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });
const HEADER_BYTES = 8;
/** Rewritten as a sum beyond this; a restart then reads it in some tens of milliseconds. */
const COMPACT_BYTES = 16 * 1_048_576;
/** How much more is written before a rewrite that found no room is tried again. */
const COMPACT_AGAIN_BYTES = 1_048_576;

/** What comes with every answer of the head. */
const HEARSAY: ReadonlySet<RunnerEvent['kind']> = new Set(['heard', 'stamped']);

interface Frame {
  readonly bootId: string;
  readonly events: readonly RunnerEvent[];
}

/** What the order of an accepted epoch shares with others in the file is written once. */
type WrittenEvent =
  | Exclude<RunnerEvent, { readonly kind: 'epoch_accepted' }>
  | (Omit<Extract<RunnerEvent, { readonly kind: 'epoch_accepted' }>, 'order'> & {
      readonly order: SentOrder;
    });

interface WrittenFrame {
  readonly bootId: string;
  readonly events: readonly WrittenEvent[];
}

export class Journal {
  readonly #file: JournalFile;
  readonly #bootId: string;
  /** Where the next frame goes. */
  #end = 0;
  #compactAt = COMPACT_BYTES;
  /** Whole programs: an older agent that is put back would read what is shared wrong. */
  #orders = new OrderWriter({ sharesScripts: false });
  /** What was recovered could not be written again: that comes before anything else. */
  #owesSum = false;

  constructor(file: JournalFile, bootId: string) {
    this.#file = file;
    this.#bootId = bootId;
  }

  /** The state as it was, and the file rewritten as its sum, if there is room for that. */
  recover(now: Now): { readonly state: RunnerState; readonly sameBoot: boolean; torn: boolean } {
    const { frames, torn, end } = readFrames(this.#file.read());
    const state = stateOf(frames);
    const sameBoot = frames.at(-1)?.bootId === this.#bootId;
    if (!sameBoot) {
      // Another boot has another monotonic clock; the lease counts from the next answer.
      state.heardAt = null;
      for (const { run } of state.epochs.values()) if (run !== null) forgetBoot(run);
      apply(state, rebootEvents(state, now));
    }
    this.#end = end;
    try {
      this.#compact(state);
    } catch {
      this.#owesSum = true; // The first append says what is wrong, and is tried until it succeeds.
    }
    return { state, sameBoot, torn };
  }

  /** Written when this returns; `state` is the state with these events. Throws on a full disk. */
  append(events: readonly RunnerEvent[], state: RunnerState): void {
    if (this.#owesSum) this.#compact(state);
    else if (this.#end <= this.#compactAt || !this.#replace(state)) this.#write(events);
  }

  /** Whether new work can be recorded, and not only the end of what is here. */
  hasRoom(): boolean {
    return this.#file.hasRoom() && !this.#owesSum;
  }

  #write(events: readonly RunnerEvent[]): void {
    // The reserve is for ends. Forgetting an answer of the head only makes a lease end earlier.
    const kept = this.#file.hasRoom() ? events : events.filter(({ kind }) => !HEARSAY.has(kind));
    if (kept.length === 0) return;
    const written = kept.map((event) => this.#written(event));
    this.#put(encodeFrame({ bootId: this.#bootId, events: written }));
  }

  #written(event: RunnerEvent): WrittenEvent {
    if (event.kind !== 'epoch_accepted') return event;
    return { ...event, order: this.#orders.write(event.order) };
  }

  #put(bytes: Uint8Array): void {
    try {
      this.#file.write(this.#end, bytes);
    } catch (error) {
      // What it kept is not in the file: nothing may refer to it.
      this.#orders = new OrderWriter({ sharesScripts: false });
      throw error;
    }
    this.#end += bytes.length;
  }

  /** Without room for a second file, the sum goes behind what is there, into the reserve. */
  #compact(state: RunnerState): void {
    if (!this.#replace(state)) this.#put(this.#sumFrame(state));
    this.#owesSum = false;
  }

  #replace(state: RunnerState): boolean {
    const bytes = this.#sumFrame(state);
    try {
      this.#file.replace(bytes);
    } catch {
      this.#compactAt = this.#end + COMPACT_AGAIN_BYTES;
      return false;
    }
    this.#end = bytes.length;
    this.#orders = new OrderWriter({ sharesScripts: false });
    // A big state must not be rewritten at every append.
    this.#compactAt = Math.max(COMPACT_BYTES, 4 * bytes.length);
    return true;
  }

  #sumFrame(state: RunnerState): Uint8Array {
    const events: RunnerEvent[] = [{ kind: 'state_restored', sum: sumOf(state) }];
    return encodeFrame({ bootId: this.#bootId, events });
  }
}

function stateOf(frames: readonly Frame[]): RunnerState {
  let state = emptyState();
  for (const { events } of frames) {
    if (events[0]?.kind === 'state_restored') state = emptyState();
    apply(state, events);
  }
  return state;
}

/** How many starts of tasks a journal knows. Throws where this release cannot read it. */
export function epochsIn(content: Uint8Array): number {
  return stateOf(readFrames(content).frames).epochs.size;
}

function encodeFrame(frame: WrittenFrame): Uint8Array {
  const body = packr.pack(frame);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  bytes.writeUInt32LE(body.length, 0);
  bytes.writeUInt32LE(crc32(body), 4);
  body.copy(bytes, HEADER_BYTES);
  return bytes;
}

function restored(event: WrittenEvent, orders: OrderReader): RunnerEvent {
  if (event.kind !== 'epoch_accepted') return event;
  const order = orders.read(event.order);
  // A frame whose sum matches says what was written: it refers to what came before it.
  assert(order.ok && order.value.kind === 'launch', 'a journal with its orders');
  return { ...event, order: order.value };
}

/** Every whole frame up to the reserve, or to the first that is cut short or does not match. */
export function readFrames(content: Uint8Array): { frames: Frame[]; torn: boolean; end: number } {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const frames: Frame[] = [];
  const orders = new OrderReader();
  let end = 0;
  while (end + HEADER_BYTES <= bytes.length) {
    const length = bytes.readUInt32LE(end);
    const until = end + HEADER_BYTES + length;
    // Zeros: the reserve begins here.
    if (length === 0 || until > bytes.length) break;
    const body = bytes.subarray(end + HEADER_BYTES, until);
    if (crc32(body) !== bytes.readUInt32LE(end + 4)) break;
    const { bootId, events } = packr.unpack(body) as WrittenFrame;
    frames.push({ bootId, events: events.map((event) => restored(event, orders)) });
    end = until;
  }
  const torn = bytes.subarray(end, end + HEADER_BYTES).some((byte) => byte !== 0);
  return { frames, torn, end };
}
