// Bytes that the other side has asked for: sent as far as it has room.

import { CALL_PIECE_BYTES_MAX } from '../../../kernel/model/limits.ts';
import type { Body, Bytes, More, None, Stop } from './messages.ts';

interface Sending {
  readonly bytes: Bytes;
  position: number;
}

/** The streams that one line was asked for. */
export class Outgoing {
  readonly #send: (message: Body | None) => void;
  readonly #sendings = new Map<number, Sending>();

  constructor(send: (message: Body | None) => void) {
    this.#send = send;
  }

  /** Returns null when there are no such bytes, or not any more. */
  open(
    {
      stream,
      from,
      upTo,
    }: { readonly stream: number; readonly from: number; readonly upTo: number },
    bytes: Bytes | null,
  ): void {
    if (bytes === null || from > bytes.length) return this.#send({ kind: 'none', stream });
    const sending = { bytes, position: from };
    this.#sendings.set(stream, sending);
    this.#go(stream, sending, upTo);
  }

  more({ stream, upTo }: More): void {
    const sending = this.#sendings.get(stream);
    if (sending !== undefined) this.#go(stream, sending, upTo);
  }

  stop({ stream }: Stop): void {
    this.#sendings.delete(stream);
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
