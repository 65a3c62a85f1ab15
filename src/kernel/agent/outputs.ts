// Ships captured output to the head: new pieces while a task runs, the rest at its end. Bounded per
// file by the head's limit and per connection by what is not yet acknowledged.

import type { EpochId } from '../model/ids.ts';
import { SMALL_OUTPUT_BYTES_MAX } from '../model/limits.ts';
import type { LaunchOrder } from '../model/orders.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Files } from '../ports/files.ts';
import type { AgentToHead, HeadToAgent, LogName, Stream } from '../wire/messages.ts';
import type { Spooled } from './spool.ts';
import { readTail } from './tail.ts';

/** Largest piece in one message; heartbeats share the connection. */
const CHUNK_BYTES_MAX = 256 * 1024;
/** Bytes of one file that are sent and not acknowledged. */
const WINDOW_BYTES_MAX = 1024 * 1024;
/** A piece without an answer for this long goes out again: the head could not keep it. */
const RESEND_MS = 10_000;
/** How often a running task's files are looked at. */
const LOOK_EVERY_MS = 200;
/** Spreads the looks when there are thousands of files: at most a few per cent of one CPU. */
const LOOK_MS_PER_FILE = 0.1;

export interface OutputFile {
  readonly rank: number;
  readonly stream: Stream;
  readonly path: string;
}

interface Shipped extends OutputFile {
  readonly name: LogName;
  readonly uid: number | null;
  sent: number;
  acknowledged: number;
  /** Offset and length together of the last piece, once sent; null before. */
  end: number | null;
  /** The head has everything, and knows that it has. */
  isComplete: boolean;
  /** The size when the processes were gone; null before that, and when nobody has looked. */
  lastSize: number | null;
  /** Nothing was written to it, and nothing was done to it. */
  isUntouched: boolean;
  /** A look has found something small. */
  isSeen: boolean;
  /** Monotonic time of the last piece sent or acknowledged. */
  movedAt: number;
}

/** `untouched`: the files that are as they were made. */
type WhenShipped = (untouched: ReadonlySet<string>) => void;

interface PartOutput {
  readonly files: Shipped[];
  /** The report of its end says that there is nothing: no file is shipped. */
  isSilent: boolean;
  /** Set when the processes are gone. */
  whenShipped: WhenShipped | null;
}

export interface ShipperWorld {
  readonly clock: Clock;
  readonly files: Files;
  /** Whether the launcher has said of any process of the epoch that it started. */
  readonly isStarted: (epochId: EpochId) => boolean;
  /** False: no session; the message is not kept. */
  readonly send: (message: AgentToHead) => boolean;
}

export class OutputShipper {
  readonly #world: ShipperWorld;
  readonly #parts = new Map<EpochId, PartOutput>();
  #timer: Timer | null = null;
  #fileCount = 0;
  #connected = false;
  #bytesMax = 0;

  constructor(world: ShipperWorld) {
    this.#world = world;
  }

  /** From now on, these files of the epoch are shipped as they grow. */
  watch(order: LaunchOrder, uid: number | null, files: readonly OutputFile[]): void {
    if (files.length === 0 || this.#parts.has(order.epochId)) return;
    const { epochId, nodeRank } = order;
    const shipped = files.map((file) => {
      const name = { epochId, nodeRank, rank: file.rank, stream: file.stream };
      const sent = {
        sent: 0,
        acknowledged: 0,
        end: null,
        isComplete: false,
        isSeen: false,
        movedAt: 0,
      };
      return { ...file, name, uid, ...sent, lastSize: null, isUntouched: false };
    });
    this.#parts.set(epochId, { files: shipped, isSilent: false, whenShipped: null });
    this.#fileCount += files.length;
    this.#lookLater();
  }

  /**
   * The processes are gone: whether they have written nothing. Then the report of the end, which
   * has to say so, saves the four messages about two empty files.
   */
  endsSilently(epochId: EpochId): boolean {
    const part = this.#parts.get(epochId);
    if (part === undefined) return false;
    for (const file of part.files) this.#lookLast(file);
    part.isSilent = part.files.every(
      ({ sent, end, lastSize }) => sent === 0 && end === null && lastSize === 0,
    );
    return part.isSilent;
  }

  /** Nobody is there who could write: the answer holds for all that is still to be done. */
  #lookLast(file: Shipped): void {
    const look = this.#world.files.look(file.path, file.uid);
    file.lastSize = look?.size ?? 0;
    file.isUntouched = look !== null && look.size === 0 && look.isPrivate;
  }

  /** The files are complete: ships the rest at once, and says when the head has everything. */
  finish(epochId: EpochId, then: WhenShipped): void {
    const part = this.#parts.get(epochId);
    if (part === undefined) {
      then(new Set());
      return;
    }
    if (part.isSilent) {
      this.#drop(epochId, part, then);
      return;
    }
    part.whenShipped = then;
    for (const file of part.files) this.#ship(part, file);
  }

  /** A session with the head is up: whatever was not acknowledged goes out again. */
  connect(welcome: Extract<HeadToAgent, { kind: 'welcome' }>): void {
    this.#connected = true;
    this.#bytesMax = welcome.logBytesMax;
    for (const part of this.#parts.values()) {
      for (const file of part.files) {
        this.#shipAgain(part, file);
      }
    }
    this.#lookLater();
  }

  /** Everything that is captured, or may be, and not yet with the head. */
  *all(): Iterable<Spooled> {
    for (const [epochId, part] of this.#parts) if (this.#mayHold(epochId, part)) yield* part.files;
  }

  disconnect(): void {
    this.#connected = false;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /**
   * The head has this file up to `offset`, which can be further than this agent remembers, or less
   * far: then something was lost there. One that comes late or twice costs a repetition at most,
   * because only the word about the end ends the shipping.
   */
  acknowledge({ name, offset, end }: Extract<HeadToAgent, { kind: 'log_ack' }>): void {
    const part = this.#parts.get(name.epochId);
    const file = part?.files.find((one) => one.rank === name.rank && one.stream === name.stream);
    if (part === undefined || file === undefined) return;
    const isBack = offset < file.acknowledged;
    file.acknowledged = offset;
    file.movedAt = this.#world.clock.monotonic();
    file.sent = Math.max(file.sent, file.acknowledged);
    file.isComplete ||= end && file.end !== null && offset >= file.end;
    if (file.isComplete) this.#dropWhenShipped(name.epochId, part);
    // A head takes no bytes beyond a gap. The usual resend waits until the task is silent for a
    // while, and a task that goes on writing never is.
    else if (isBack) this.#shipAgain(part, file);
    else this.#ship(part, file);
  }

  #dropWhenShipped(epochId: EpochId, part: PartOutput): void {
    if (part.whenShipped === null || !part.files.every((file) => file.isComplete)) return;
    this.#drop(epochId, part, part.whenShipped);
  }

  #drop(epochId: EpochId, part: PartOutput, then: WhenShipped): void {
    this.#parts.delete(epochId);
    this.#fileCount -= part.files.length;
    const untouched = part.files.filter(({ isUntouched }) => isUntouched);
    then(new Set(untouched.map(({ path }) => path)));
  }

  #lookLater(): void {
    if (!this.#connected || this.#timer !== null || this.#parts.size === 0) return;
    const delay = LOOK_EVERY_MS + this.#fileCount * LOOK_MS_PER_FILE;
    this.#timer = this.#world.clock.after(delay, () => {
      this.#timer = null;
      for (const [epochId, part] of this.#parts) {
        // Many wait for the launcher at a time; their files need no look before they are there.
        if (!this.#mayHold(epochId, part)) continue;
        for (const file of part.files) this.#look(part, file);
      }
      this.#lookLater();
    });
  }

  /** Nothing has been written where nothing has started. */
  #mayHold(epochId: EpochId, part: PartOutput): boolean {
    return part.whenShipped !== null || this.#world.isStarted(epochId);
  }

  #look(part: PartOutput, file: Shipped): void {
    const isOpen = file.sent > file.acknowledged || (file.end !== null && !file.isComplete);
    const quietMs = this.#world.clock.monotonic() - file.movedAt;
    if (isOpen && quietMs > RESEND_MS) this.#shipAgain(part, file);
    else if (file.end === null && !this.#mayWait(file)) this.#ship(part, file);
  }

  /**
   * Small output waits for one more look, once for each file: of most tasks it goes with the end
   * then, and the head never makes a file for it.
   */
  #mayWait(file: Shipped): boolean {
    if (file.isSeen || file.sent > 0) return false;
    const size = this.#world.files.size(file.path) ?? 0;
    file.isSeen = size > 0;
    return size <= SMALL_OUTPUT_BYTES_MAX;
  }

  #shipAgain(part: PartOutput, file: Shipped): void {
    file.sent = file.acknowledged;
    file.end = null;
    this.#ship(part, file);
  }

  #ship(part: PartOutput, file: Shipped): void {
    if (!this.#connected || file.end !== null) return;
    const size = file.lastSize ?? this.#world.files.size(file.path) ?? 0;
    const until = Math.min(size, this.#bytesMax);
    while (file.sent < until && file.sent - file.acknowledged < WINDOW_BYTES_MAX) {
      const wanted = Math.min(CHUNK_BYTES_MAX, until - file.sent);
      const bytes = this.#world.files.read(file.path, file.uid, file.sent, wanted);
      // Replaced, cut or not the user's own: what can be read safely has been.
      if (bytes.length === 0) break;
      const isLast = part.whenShipped !== null && file.sent + bytes.length >= until;
      if (!this.#send(file, bytes, isLast, size)) return;
    }
    this.#shipEnd(part, file, size);
  }

  // Only when nothing is in flight: the end piece says how long the file is.
  #shipEnd(part: PartOutput, file: Shipped, size: number): void {
    if (part.whenShipped === null || file.end !== null || file.sent > file.acknowledged) return;
    this.#send(file, new Uint8Array(0), true, size);
  }

  /** `size`: of the whole file now. */
  #send(file: Shipped, bytes: Uint8Array, end: boolean, size: number): boolean {
    const { name, sent: offset, path, uid } = file;
    const beyond = Math.max(0, size - (end ? offset + bytes.length : this.#bytesMax));
    const limit = this.#bytesMax;
    const measured = { path, uid, size, limit };
    const tail = end && beyond > 0 ? readTail(this.#world.files, measured) : null;
    const message = {
      kind: 'log' as const,
      name,
      offset,
      bytes,
      end,
      dropped: beyond - (tail?.length ?? 0),
      ...(tail === null || tail.length === 0 ? {} : { tail }),
    };
    if (!this.#world.send(message)) return false;
    file.sent += bytes.length;
    file.movedAt = this.#world.clock.monotonic();
    if (end) file.end = file.sent;
    return true;
  }
}
