// What supervisor and child say to each other over two pipes: frames of a length, a kind and two
// numbers, then bytes. Both are of one release, and start together.

/** Frames to the child. */
export const TO_CHILD = {
  asset: 1,
  call: 2,
  cancel: 3,
  withdraw: 4,
  forget: 5,
  leave: 6,
  // 7 and 8 are taken: `FORMER_TO_CHILD`.
  /** A call whose arguments lie in memory: instead of them how many bytes they have, and where. */
  callNear: 9,
  /** An empty file in memory, for one large result (`near-memory.ts`): where. */
  room: 10,
} as const;

/** Frames of earlier releases: an upgrade in place may start a child beside an older parent. */
const FORMER_TO_CHILD: Readonly<Record<number, string>> = { 7: 'near', 8: 'held' };

/** Words for a frame that a child does not know; `release`: of the one that sent it. */
export function unknownToChild(kind: number, release: string | undefined, own: string): string {
  const name = FORMER_TO_CHILD[kind];
  const frame = name === undefined ? `${kind}` : `${kind} (${name})`;
  const theirs = release ?? 'an earlier weft';
  return `this process, of ${own}, does not know frame ${frame} of its worker, of ${theirs}; ${ANEW}`;
}

/** Words for a frame that a supervisor does not know. */
export function unknownToSupervisor(kind: number, release: string, own: string): string {
  const frame = `a frame of kind ${kind}`;
  if (release === own) return frame;
  return `${frame} (the process is of ${release}, its worker of ${own}; ${ANEW})`;
}

const ANEW = 'an upgrade in place needs a new worker';

/** Frames to the supervisor. */
export const TO_SUPERVISOR = {
  /** With what says which memory it shares with whom, where it sees its supervisor's files. */
  ready: 1,
  /** Written before the function is called. */
  starting: 2,
  result: 3,
  thrown: 4,
  progress: 5,
  /** These have not started and never will here. */
  withdrawn: 6,
  /** The process ends by itself, with this exit code. */
  exiting: 7,
  /** The child wants to be replaced, and starts no more calls: words. */
  worn: 8,
  /** A large result that lies in a room: how many bytes it has, and where. */
  resultNear: 9,
} as const;

/** Bytes of a frame's head: length of the rest (u32), kind (u8), a number (u32). */
export const HEAD_BYTES = 9;

export interface Frame {
  readonly kind: number;
  /** Which call, as supervisor and child count them; or which asset, or an exit code. */
  readonly a: number;
  readonly bytes: Buffer;
}

export interface FrameHead {
  readonly kind: number;
  readonly a: number;
}

/** Writes the head of a frame with so many bytes after it. */
export function writeHead(into: Buffer, at: number, head: FrameHead, bytes: number): void {
  into.writeUInt32LE(bytes, at);
  into[at + 4] = head.kind;
  into.writeUInt32LE(head.a, at + 5);
}

const COPY_BYTES = 16 * 1024;

/** Frames that go out with one write: small ones as one buffer, large ones without a copy. */
export class FrameBatch {
  #parts: Uint8Array[] = [];
  #small: Buffer = Buffer.allocUnsafe(2 * COPY_BYTES);
  #from = 0;
  #to = 0;

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#from === this.#to;
  }

  add(head: FrameHead, ...bodies: readonly Uint8Array[]): void {
    const bytes = bodies.reduce((sum, { length }) => sum + length, 0);
    this.#room(HEAD_BYTES);
    writeHead(this.#small, this.#to, head, bytes);
    this.#to += HEAD_BYTES;
    for (const body of bodies) {
      if (body.length > COPY_BYTES) {
        this.#close();
        this.#parts.push(body);
      } else if (body.length > 0) {
        this.#room(body.length);
        this.#small.set(body, this.#to);
        this.#to += body.length;
      }
    }
  }

  take(): Uint8Array[] {
    this.#close();
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  #room(bytes: number): void {
    if (this.#to + bytes <= this.#small.length) return;
    this.#close();
    this.#small = Buffer.allocUnsafe(4 * COPY_BYTES);
    this.#from = 0;
    this.#to = 0;
  }

  #close(): void {
    if (this.#from < this.#to) this.#parts.push(this.#small.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}

/**
 * Cuts a stream into frames. Takes chunks that their owner uses again: what it keeps it copies,
 * once. Throws RangeError for a frame that is larger than the bound.
 */
export class FrameReader {
  readonly #bytesMax: number;
  readonly #onFrame: (frame: Frame) => void;
  readonly #head = Buffer.allocUnsafe(HEAD_BYTES);
  #headBytes = 0;
  #body: Buffer | null = null;
  #bodyBytes = 0;

  constructor(bytesMax: number, onFrame: (frame: Frame) => void) {
    this.#bytesMax = bytesMax;
    this.#onFrame = onFrame;
  }

  feed(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#body === null) {
        const taken = Math.min(HEAD_BYTES - this.#headBytes, chunk.length - at);
        this.#head.set(chunk.subarray(at, at + taken), this.#headBytes);
        this.#headBytes += taken;
        at += taken;
        if (this.#headBytes < HEAD_BYTES) return;
        this.#begin();
      }
      at += this.#fill(chunk, at);
    }
  }

  #begin(): void {
    const bytes = this.#head.readUInt32LE(0);
    if (bytes > this.#bytesMax) throw new RangeError(`a frame of ${bytes} bytes`);
    this.#body = Buffer.allocUnsafeSlow(bytes);
    this.#bodyBytes = 0;
  }

  #fill(chunk: Uint8Array, at: number): number {
    const body = this.#body as Buffer;
    const taken = Math.min(body.length - this.#bodyBytes, chunk.length - at);
    body.set(chunk.subarray(at, at + taken), this.#bodyBytes);
    this.#bodyBytes += taken;
    if (this.#bodyBytes === body.length) {
      const head = this.#head;
      this.#body = null;
      this.#headBytes = 0;
      this.#onFrame({
        kind: head[4] as number,
        a: head.readUInt32LE(5),
        bytes: body,
      });
    }
    return taken;
  }
}

/** What a call frame carries before its arguments. */
export interface CallOrder {
  /** Number of the call within its session. */
  readonly call: number;
  readonly attempt: number;
  readonly asset: number;
  readonly shared: readonly number[];
}

/** Lists of numbers, of a call and of the withdrawn. */
export function numbersOf(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (let at = 0; at < values.length; at += 1) bytes.writeUInt32LE(values[at] as number, 4 * at);
  return bytes;
}

export function readNumbers(bytes: Buffer): number[] {
  const values: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) values.push(bytes.readUInt32LE(at));
  return values;
}

const ORDER_BYTES = 16;

/** `[call, attempt, asset, number of shared, shared…]`, then the arguments. */
export function orderHead(order: CallOrder): Buffer {
  return numbersOf([order.call, order.attempt, order.asset, order.shared.length, ...order.shared]);
}

export function readOrder(bytes: Buffer): CallOrder & { readonly args: Buffer } {
  const end = ORDER_BYTES + 4 * bytes.readUInt32LE(12);
  return {
    call: bytes.readUInt32LE(0),
    attempt: bytes.readUInt32LE(4),
    asset: bytes.readUInt32LE(8),
    shared: end === ORDER_BYTES ? NONE : readNumbers(bytes.subarray(ORDER_BYTES, end)),
    args: bytes.subarray(end),
  };
}

const PLACE_BYTES = 8;

/** Where a value lies: its length, then the name of the file. */
export function placeOf({ length, file }: { length: number; file: string }): Buffer {
  const bytes = Buffer.alloc(PLACE_BYTES + Buffer.byteLength(file));
  bytes.writeBigUInt64LE(BigInt(length));
  bytes.write(file, PLACE_BYTES);
  return bytes;
}

/** Null: it is no such place. */
export function readPlace(bytes: Buffer): { length: number; file: string } | null {
  if (bytes.length <= PLACE_BYTES) return null;
  return {
    length: Number(bytes.readBigUInt64LE()),
    file: bytes.toString('latin1', PLACE_BYTES),
  };
}

const NONE: readonly number[] = [];
