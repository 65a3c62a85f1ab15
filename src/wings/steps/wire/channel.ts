// A stream of bytes in both directions that outlives its line: what was not told as taken is kept,
// and sent once more on the next line. At most a window of it is on the way.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { WINDOW_BYTES } from '../core/limits.ts';

/** What goes over the line: u8 kind, u32 length or u64 count. `join` is the first of each line. */
const KIND = { join: 0x4a, bytes: 0x42, taken: 0x54, bye: 0x45 } as const;
/** The other side is told of so many bytes at once. */
const TELL_BYTES = WINDOW_BYTES / 4;
const COUNT_BYTES = 9;
const HEADER_BYTES = 5;

/** A side writes in pieces, so that it may be beyond the window by one: never by as much again. */
const UNTAKEN_BYTES_MAX = 2 * WINDOW_BYTES;

const LOST = 'the other side of the step has lost what it was sent';

export interface ChannelEvents {
  /** In order, each byte once. */
  readonly bytes: (bytes: Buffer) => void;
  /** There is room to send again. */
  readonly drained: () => void;
  /** Somebody is at the other end of a line, or nobody. */
  readonly joined: (isJoined: boolean) => void;
  /** The other side needs no line any more. */
  readonly bye: () => void;
}

export class Channel {
  readonly #events: ChannelEvents;
  #send: ((bytes: Buffer) => void) | null = null;
  /** What the other side has not said that it took, oldest first. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Counted from the beginning: sent first of those kept; received; and told as taken. */
  #first = 0;
  #received = 0;
  #told = 0;
  /** Received and not yet taken by whoever reads. */
  #untaken = 0;
  #rest: Buffer = Buffer.alloc(0);
  #isJoined = false;
  /** Nothing is heard any more of a line that had an error. */
  #isBroken = false;
  #hasEnded = false;
  #isDrainWanted = false;

  constructor(events: ChannelEvents) {
    this.#events = events;
  }

  /** Bytes that the other side has not taken. */
  get waitingBytes(): number {
    return this.#keptBytes;
  }

  /** False: the window is full, and `drained` will be called. The bytes are kept all the same. */
  write(bytes: Buffer): boolean {
    if (bytes.length > 0) {
      this.#kept.push(bytes);
      this.#keptBytes += bytes.length;
      if (this.#isJoined) this.#sendBytes(bytes);
    }
    this.#isDrainWanted ||= this.#keptBytes >= WINDOW_BYTES;
    return this.#keptBytes < WINDOW_BYTES;
  }

  /** No line is needed any more, once what was written is taken. */
  end(): void {
    this.#hasEnded = true;
    if (this.#isJoined) this.#send?.(Buffer.of(KIND.bye, 0, 0, 0, 0));
  }

  /** Bytes of what `bytes` gave that the reader has taken. */
  take(count: number): void {
    this.#untaken -= count;
    if (this.#received - this.#untaken - this.#told >= TELL_BYTES) this.#tell();
  }

  /** A new line; the one before is no more. */
  open(send: (bytes: Buffer) => void): void {
    this.#send = send;
    this.#rest = Buffer.alloc(0);
    this.#isJoined = false;
    this.#isBroken = false;
    this.#send(counted(KIND.join, this.#received));
  }

  /** The line is gone. */
  cut(): void {
    this.#send = null;
    if (!this.#isJoined) return;
    this.#isJoined = false;
    this.#events.joined(false);
  }

  /** An error: the other side speaks otherwise, or has lost what it was sent. */
  feed(bytes: Buffer): Result<null, string> {
    if (this.#isBroken) return ok(null);
    const fed = this.#feed(bytes);
    this.#isBroken = !fed.ok;
    return fed;
  }

  #feed(bytes: Buffer): Result<null, string> {
    let all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const length = messageLength(all);
      if (length === null) return err('what comes over the line is no stream of a step');
      if (length === 0 || all.length < length) break;
      const heard = this.#hear(all.subarray(0, length));
      if (!heard.ok) return heard;
      all = all.subarray(length);
    }
    this.#rest = Buffer.from(all);
    return ok(null);
  }

  #hear(message: Buffer): Result<null, string> {
    const [kind] = message;
    if (kind === KIND.join) return this.#join(Number(message.readBigUInt64LE(1)));
    if (!this.#isJoined) return err('the first word on a line is how much was received');
    if (kind === KIND.taken) return this.#drop(Number(message.readBigUInt64LE(1)));
    if (kind === KIND.bye) this.#events.bye();
    else return this.#receive(Buffer.from(message.subarray(HEADER_BYTES)));
    return ok(null);
  }

  #receive(bytes: Buffer): Result<null, string> {
    if (this.#untaken + bytes.length > UNTAKEN_BYTES_MAX) {
      return err('the other side of the step sends more than was taken of it');
    }
    this.#received += bytes.length;
    this.#untaken += bytes.length;
    this.#events.bytes(bytes);
    return ok(null);
  }

  /** What the other side has received it need not be sent again; it is kept until it is taken. */
  #join(received: number): Result<null, string> {
    if (this.#isJoined) return err('how much was received is said once on a line');
    let known = received - this.#first;
    if (known < 0 || known > this.#keptBytes) return err(LOST);
    this.#isJoined = true;
    this.#events.joined(true);
    for (const bytes of this.#kept) {
      if (known < bytes.length) this.#sendBytes(bytes.subarray(known));
      known = Math.max(0, known - bytes.length);
    }
    this.#tell();
    if (this.#hasEnded) this.end();
    return ok(null);
  }

  #drop(upTo: number): Result<null, string> {
    if (upTo < this.#first || upTo > this.#first + this.#keptBytes) return err(LOST);
    let left = upTo - this.#first;
    this.#first = upTo;
    this.#keptBytes -= left;
    while (left > 0) {
      const [bytes = Buffer.alloc(0)] = this.#kept;
      if (bytes.length <= left) this.#kept.shift();
      else this.#kept[0] = bytes.subarray(left);
      left -= Math.min(left, bytes.length);
    }
    if (this.#isDrainWanted && this.#keptBytes < WINDOW_BYTES / 2) {
      this.#isDrainWanted = false;
      this.#events.drained();
    }
    return ok(null);
  }

  #sendBytes(bytes: Buffer): void {
    const header = Buffer.alloc(HEADER_BYTES);
    header[0] = KIND.bytes;
    header.writeUInt32LE(bytes.length, 1);
    this.#send?.(Buffer.concat([header, bytes]));
  }

  #tell(): void {
    if (!this.#isJoined) return;
    this.#told = this.#received - this.#untaken;
    this.#send?.(counted(KIND.taken, this.#told));
  }
}

/** With its header; 0: not known yet; null: no message is so. */
function messageLength(bytes: Buffer): number | null {
  const [kind] = bytes;
  if (kind === undefined) return 0;
  if (kind === KIND.join || kind === KIND.taken) return COUNT_BYTES;
  if (kind !== KIND.bytes && kind !== KIND.bye) return null;
  if (bytes.length < HEADER_BYTES) return 0;
  const length = bytes.readUInt32LE(1);
  return length > WINDOW_BYTES * 2 ? null : HEADER_BYTES + length;
}

function counted(kind: number, count: number): Buffer {
  const bytes = Buffer.alloc(COUNT_BYTES);
  bytes[0] = kind;
  bytes.writeBigUInt64LE(BigInt(count), 1);
  return bytes;
}
