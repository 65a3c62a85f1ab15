// Bytes that the other side has asked for: sent as far as it has room.

import { CALL_PIECE_BYTES_MAX } from '../../../kernel/model/limits.ts';
import type { Body, Bytes, More, Near, None, Stop } from './messages.ts';
import { bytesOf, type NearBytes, type NearValue, type PassedValue } from './near.ts';

interface Sending {
  readonly bytes: Bytes;
  position: number;
}

/** Which bytes of a stream are wanted. */
export interface WantedBytes {
  readonly stream: number;
  readonly from: number;
  readonly upTo: number;
}

/** The streams that one line was asked for. */
export class Outgoing {
  readonly #send: (message: Body | None | Near) => void;
  readonly #near: NearBytes | null;
  readonly #sendings = new Map<number, Sending>();
  readonly #values = new Map<number, NearValue>();

  constructor(send: (message: Body | None | Near) => void, near: NearBytes | null) {
    this.#send = send;
    this.#near = near;
  }

  /** For a reader on this machine: in memory; false: there is no room, and bytes go by the line. */
  openNear(wanted: WantedBytes, given: PassedValue | null): boolean {
    const isAll = given !== null && wanted.from === 0;
    const value = isAll ? this.#offered(given) : null;
    if (value === null) {
      this.open(wanted, given);
      return false;
    }
    const { stream } = wanted;
    this.#values.set(stream, value);
    this.#send({ kind: 'near', stream, file: value.file });
    return true;
  }

  #offered(given: PassedValue): NearValue | null {
    if (given instanceof Uint8Array) return this.#near?.offer(given) ?? null;
    return given.lend();
  }

  /** The line is gone. */
  end(): void {
    for (const value of this.#values.values()) value.close();
    this.#values.clear();
  }

  /** Returns null when there are no such bytes, or not any more. */
  open({ stream, from, upTo }: WantedBytes, given: PassedValue | null): void {
    if (given === null || from > given.length) return this.#send({ kind: 'none', stream });
    const sending = { bytes: bytesOf(given), position: from };
    this.#sendings.set(stream, sending);
    this.#go(stream, sending, upTo);
  }

  more({ stream, upTo }: More): void {
    const sending = this.#sendings.get(stream);
    if (sending !== undefined) this.#go(stream, sending, upTo);
  }

  stop({ stream }: Stop): void {
    this.#sendings.delete(stream);
    this.#values.get(stream)?.close();
    this.#values.delete(stream);
  }

  #go(stream: number, sending: Sending, upTo: number): void {
    const { bytes } = sending;
    const until = Math.min(upTo, bytes.length);
    while (sending.position < until) {
      const end = Math.min(until, sending.position + CALL_PIECE_BYTES_MAX);
      this.#send({ kind: 'body', stream, bytes: bytes.subarray(sending.position, end) });
      sending.position = end;
    }
    if (sending.position === bytes.length) this.#sendings.delete(stream);
  }
}
