// A request to a head and its answer, over whatever they go.

import type { Readable } from 'node:stream';

/** Bytes that are sent as they are read. */
export interface ByteBody {
  /** Null: not known before all is sent. */
  readonly length: number | null;
  /** From the first byte; called again when the request has to be sent again. */
  open(): Readable;
  /**
   * The same in pieces, each of which holds only until the next one is asked for, so that a sender
   * that waits for the system needs no new memory for each. Absent: only by `open`.
   */
  pieces?(): AsyncIterable<Uint8Array>;
}

export interface RawRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | ByteBody | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The head of an answer, and its body to read. */
export interface Answer extends Readable {
  readonly statusCode?: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** There once the body has ended. */
  readonly trailers: Readonly<Record<string, string | undefined>>;
}
