// Bytes that were asked for: put together as they come.

import { CALL_PIECE_BYTES_MAX, CALL_STREAM_BYTES_MAX } from '../../../kernel/model/limits.ts';
import type { Body, Bytes, More, Near, None, Stop } from './messages.ts';
import type { NearBytes, NearFiles, PassedValue } from './near.ts';

/** Bytes of which a part may be there; it outlives the lines over which they come. */
export class Gathering {
  readonly size: number;
  position = 0;
  /** Where it is passed on as it lies in memory. */
  passed: PassedValue | null = null;
  #bytes: Bytes | null = null;

  constructor(size: number) {
    this.size = size;
  }

  get isWhole(): boolean {
    return this.position === this.size;
  }

  /** Taken when the first of them come. */
  get bytes(): Bytes {
    this.#bytes ??= new Uint8Array(this.size);
    return this.#bytes;
  }
}

interface Receiving<K> {
  readonly key: K;
  readonly into: Gathering;
  upTo: number;
}

/** Takes a value that lies in memory. False: it is not there. */
export type TakeNear = (file: string, into: Gathering) => boolean;

/** By whoever uses the value. */
export function readsNear(near: NearBytes | null): TakeNear {
  return (file, into) => near?.read(file, into.bytes) === true;
}

/** By whoever passes it on: `passed` has it, and no byte is read. */
export function passesNear(files: NearFiles): TakeNear {
  return (file, into) => {
    into.passed = files.open(file, into.size);
    return into.passed !== null;
  };
}

/** The streams that were asked for on one line; `K` says what for. */
export class Incoming<K> {
  readonly #send: (message: More | Stop) => void;
  readonly #receivings = new Map<number, Receiving<K>>();
  #next = 1;

  constructor(send: (message: More | Stop) => void) {
    this.#send = send;
  }

  get count(): number {
    return this.#receivings.size;
  }

  /** What is to be said in `wanted`. */
  ask(key: K, into: Gathering) {
    const stream = this.#next;
    this.#next += 1;
    const from = into.position;
    const upTo = Math.min(into.size, from + CALL_STREAM_BYTES_MAX);
    this.#receivings.set(stream, { key, into, upTo });
    return { stream, from, upTo };
  }

  /** What is whole now; null when nothing is; in words what is wrong with what came. */
  body({ stream, bytes }: Body): K | null | { readonly flaw: string } {
    const receiving = this.#receivings.get(stream);
    if (receiving === undefined) return null;
    const { into } = receiving;
    if (into.position + bytes.length > receiving.upTo)
      return { flaw: 'more bytes than were wanted' };
    into.bytes.set(bytes, into.position);
    into.position += bytes.length;
    if (into.isWhole) {
      this.#receivings.delete(stream);
      return receiving.key;
    }
    const upTo = Math.min(into.size, into.position + CALL_STREAM_BYTES_MAX);
    if (upTo - receiving.upTo >= CALL_PIECE_BYTES_MAX || upTo === into.size) {
      if (upTo > receiving.upTo) this.#send({ kind: 'more', stream, upTo });
      receiving.upTo = upTo;
    }
    return null;
  }

  /** All of it lies in memory; the same answer. */
  near({ stream, file }: Near, take: TakeNear): K | null | { readonly flaw: string } {
    const receiving = this.#receivings.get(stream);
    if (receiving === undefined) return null;
    const { into, key } = receiving;
    if (!take(file, into)) return { flaw: 'the bytes are not there' };
    into.position = into.size;
    this.#receivings.delete(stream);
    this.#send({ kind: 'stop', stream });
    return key;
  }

  /** What will never be whole; null when nobody wanted it any more. */
  none({ stream }: None): K | null {
    const receiving = this.#receivings.get(stream);
    this.#receivings.delete(stream);
    return receiving?.key ?? null;
  }

  /** Nobody wants it any more. Few are on their way at any time. */
  cancel(key: K): void {
    for (const [stream, receiving] of this.#receivings) {
      if (receiving.key !== key) continue;
      this.#receivings.delete(stream);
      this.#send({ kind: 'stop', stream });
    }
  }
}
