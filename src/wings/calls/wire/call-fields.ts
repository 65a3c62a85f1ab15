// The fields of messages about calls: how each type of field is written and read; and messages made
// of them by a list of their fields. The few kinds that come a million times are in call-frames.ts.

import {
  CALL_BYTES_MAX,
  CALL_INLINE_BYTES_MAX,
  CALL_PIECE_BYTES_MAX,
} from '../../../kernel/model/limits.ts';
import {
  type CallRef,
  HELD_STATES,
  type Held,
  type Payload,
  SETTLED_WHYS,
} from '../core/messages.ts';
import { type ByteReader, type ByteWriter, FrameFault } from './call-bytes.ts';

/** How one type of field, or one kind of message without its kind, becomes bytes. */
export interface Codec<T> {
  write(to: ByteWriter, value: T): void;
  read(from: ByteReader): T;
}

function codec<T>(write: Codec<T>['write'], read: Codec<T>['read']): Codec<T> {
  return { write, read };
}

export const u32 = codec<number>(
  (to, value) => to.u32(value),
  (from) => from.u32(),
);
/** A size or an offset. */
export const count = codec<number>(
  (to, value) => to.f64(value),
  (from) => from.count(),
);
export const bool = codec<boolean>(
  (to, value) => to.u8(value ? 1 : 0),
  (from) => from.bool(),
);
export const text = codec<string>(
  (to, value) => to.text(value),
  (from) => from.text(),
);
/** Bytes that travel with their message. */
export const inline = codec<Uint8Array>(
  (to, value) => to.bytes(value),
  (from) => from.bytes(CALL_INLINE_BYTES_MAX),
);
export const piece = codec<Uint8Array>(
  (to, value) => to.bytes(value),
  (from) => from.bytes(CALL_PIECE_BYTES_MAX),
);

/** A session: 128 bits in hex. */
export const sessionId = matching(/^[0-9a-f]{32}$/, 'the id of a session');
export const sha256 = matching(/^[0-9a-f]{64}$/, 'a SHA-256');

function matching(form: RegExp, what: string): Codec<string> {
  return codec(
    (to, value) => to.text(value),
    (from) => {
      const value = from.text();
      if (!form.test(value)) throw new FrameFault(`'${value.slice(0, 80)}' is not ${what}`);
      return value;
    },
  );
}

export function writePayload(to: ByteWriter, value: Payload): void {
  if ('inline' in value) {
    to.u8(1);
    to.bytes(value.inline);
  } else {
    to.u8(0);
    to.f64(value.size);
  }
}

export function readPayload(from: ByteReader): Payload {
  if (from.bool()) return { inline: from.bytes(CALL_INLINE_BYTES_MAX) };
  const size = from.count();
  if (size > CALL_BYTES_MAX) throw new FrameFault(`a payload of ${size} bytes is too large`);
  return { size };
}

export function orNull<T>(inner: Codec<T>): Codec<T | null> {
  return codec(
    (to, value) => {
      to.u8(value === null ? 0 : 1);
      if (value !== null) inner.write(to, value);
    },
    (from) => (from.bool() ? inner.read(from) : null),
  );
}

/** `bytesEach`: the shortest entry, so that no length promises more than the frame can hold. */
export function listOf<T>(inner: Codec<T>, bytesEach: number): Codec<readonly T[]> {
  return codec(
    (to, values) => {
      to.u32(values.length);
      for (const value of values) inner.write(to, value);
    },
    (from) => {
      const length = from.listLength(bytesEach);
      const values: T[] = [];
      for (let at = 0; at < length; at += 1) values.push(inner.read(from));
      return values;
    },
  );
}

/** One word of a closed list. */
export function oneOf<const T extends string>(words: readonly T[]): Codec<T> {
  return codec(
    (to, value) => to.u8(words.indexOf(value)),
    (from) => {
      const at = from.u8();
      const word = words[at];
      if (word === undefined) throw new FrameFault(`no ${words.join(' or ')}: ${at}`);
      return word;
    },
  );
}

/** A plain object, field by field in this order. */
export function fields<T extends object>(of: { readonly [K in keyof T]-?: Codec<T[K]> }): Codec<T> {
  const entries = Object.entries(of) as [keyof T, Codec<T[keyof T]>][];
  return codec(
    (to, value) => {
      for (const [name, inner] of entries) inner.write(to, value[name]);
    },
    (from) => {
      const value: Partial<T> = {};
      for (const [name, inner] of entries) value[name] = inner.read(from);
      return value as T;
    },
  );
}

export const u32s = listOf(u32, 4);
export const sessionIds = listOf(sessionId, 36);
export const refs = listOf(fields<CallRef>({ session: u32, call: u32 }), 8);
export const source = oneOf(['call', 'asset']);
export const why = oneOf(SETTLED_WHYS);
export const held = listOf(
  fields<Held>({ session: sessionId, call: u32, attempt: u32, state: oneOf(HELD_STATES) }),
  45,
);
