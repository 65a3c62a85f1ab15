// So much of the X11 protocol as the question needs when somebody last typed: requests to bytes,
// bytes to replies. Numbers are little-endian, as the first byte of the session says. Nothing is
// waited for.

/** Proof of who asks: a name of a method and its data. */
export interface Cookie {
  readonly name: string;
  readonly data: Buffer;
}

const MAJOR = 11;
const SET_UP = 8;
const REPLY = 32;
/** Opcode of the core protocol, and the one within MIT-SCREEN-SAVER. */
const QUERY_EXTENSION = 98;
const QUERY_INFO = 1;
/** A server sends some kilobytes; more is none. */
const SET_UP_BYTES_MAX = 1_048_576;

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

export function encodeSetUp(cookie: Cookie | null): Buffer {
  const name = Buffer.from(cookie?.name ?? '', 'latin1');
  const data = cookie?.data ?? Buffer.alloc(0);
  const head = Buffer.alloc(12);
  head.write('l', 0, 'latin1');
  head.writeUInt16LE(MAJOR, 2);
  head.writeUInt16LE(name.length, 6);
  head.writeUInt16LE(data.length, 8);
  return Buffer.concat([head, padded(name), padded(data)]);
}

export function encodeQueryExtension(extension: string): Buffer {
  const name = Buffer.from(extension, 'latin1');
  const body = padded(name);
  const head = Buffer.alloc(8);
  head.writeUInt8(QUERY_EXTENSION, 0);
  head.writeUInt16LE(2 + body.length / 4, 2);
  head.writeUInt16LE(name.length, 4);
  return Buffer.concat([head, body]);
}

/** ScreenSaverQueryInfo of MIT-SCREEN-SAVER. */
export function encodeQueryInfo(opcode: number, root: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt8(opcode, 0);
  bytes.writeUInt8(QUERY_INFO, 1);
  bytes.writeUInt16LE(2, 2);
  bytes.writeUInt32LE(root, 4);
  return bytes;
}

export type Message =
  /** The session is open; the root window of its first screen. */
  | { readonly kind: 'welcome'; readonly root: number }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'reply'; readonly bytes: Buffer }
  /** An error of the protocol by its number. */
  | { readonly kind: 'error'; readonly code: number }
  | { readonly kind: 'broken'; readonly why: string };

/** Cuts what comes into messages, in whatever pieces it comes. */
export class Messages {
  #bytes = Buffer.alloc(0);
  #isOpen = false;

  take(piece: Uint8Array): Message[] {
    this.#bytes = Buffer.concat([this.#bytes, piece]);
    const found: Message[] = [];
    for (let one = this.#next(); one !== undefined; one = this.#next()) {
      if (one !== null) found.push(one);
    }
    return found;
  }

  /** Undefined: not all of it is there; null: nothing for us. */
  #next(): Message | null | undefined {
    return this.#isOpen ? this.#nextOfSession() : this.#setUp();
  }

  #setUp(): Message | undefined {
    if (this.#bytes.length < SET_UP) return undefined;
    const length = SET_UP + 4 * this.#bytes.readUInt16LE(6);
    if (length > SET_UP_BYTES_MAX) return this.#cut(this.#bytes.length, broken('a long greeting'));
    if (this.#bytes.length < length) return undefined;
    const bytes = this.#bytes.subarray(0, length);
    const message = readSetUp(bytes);
    this.#isOpen = message.kind === 'welcome';
    return this.#cut(length, message);
  }

  #nextOfSession(): Message | null | undefined {
    if (this.#bytes.length < REPLY) return undefined;
    const kind = this.#bytes.readUInt8(0);
    // Replies and generic events (35) say how much more belongs to them.
    const more = kind === 1 || (kind & 0x7f) === 35 ? 4 * this.#bytes.readUInt32LE(4) : 0;
    if (more > SET_UP_BYTES_MAX) return this.#cut(this.#bytes.length, broken('a long reply'));
    if (this.#bytes.length < REPLY + more) return undefined;
    const bytes = this.#bytes.subarray(0, REPLY + more);
    if (kind === 0) return this.#cut(REPLY, { kind: 'error', code: bytes.readUInt8(1) });
    // Events nobody has asked for come all the same, as when a keyboard's map changes.
    return this.#cut(
      REPLY + more,
      kind === 1 ? { kind: 'reply', bytes: Buffer.from(bytes) } : null,
    );
  }

  #cut<T>(length: number, message: T): T {
    this.#bytes = this.#bytes.subarray(length);
    return message;
  }
}

function broken(what: string): Message {
  return { kind: 'broken', why: `the X server sent ${what}` };
}

function readSetUp(bytes: Buffer): Message {
  const state = bytes.readUInt8(0);
  if (state === 0) {
    const why = bytes.subarray(SET_UP, SET_UP + bytes.readUInt8(1)).toString('latin1');
    return { kind: 'refused', why: why.replaceAll(/\p{Cc}/gu, ' ').trim() };
  }
  if (state !== 1) return { kind: 'refused', why: 'it wants another proof of who asks' };
  const vendorLength = bytes.length < 40 ? 0 : bytes.readUInt16LE(24);
  const formats = bytes.length < 40 ? 0 : bytes.readUInt8(29);
  const screen = 40 + Math.ceil(vendorLength / 4) * 4 + 8 * formats;
  if (bytes.length < screen + 40) return broken('a greeting without a screen');
  return { kind: 'welcome', root: bytes.readUInt32LE(screen) };
}

/** Opcode of an extension; null: the server does not have it. */
export function readExtension(reply: Buffer): number | null {
  return reply.readUInt8(8) === 1 ? reply.readUInt8(9) : null;
}

/** Ms since somebody last typed or moved the mouse. */
export function readIdleMs(reply: Buffer): number {
  return reply.readUInt32LE(16);
}
