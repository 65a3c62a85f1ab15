// Large values between processes of one user on one machine: the one that has them puts them into
// memory that both can read, and says where; no byte goes over a line.

import type { Bytes } from './messages.ts';

/** A value where others can read it, until it is closed. */
export interface NearValue {
  /** What the reader is told. */
  readonly file: string;
  close(): void;
}

/** A value that lies there already, held open: there until the last of its holders closes it. */
export interface NearFile extends NearValue {
  readonly length: number;
  bytes(): Bytes;
  /** One more holder. */
  lend(): NearValue;
}

/** What a worker passes on as it is. */
export type PassedValue = Bytes | NearFile;

export interface NearBytes {
  /** Null: there is no room, and the value goes over the line. */
  offer(bytes: Bytes): NearValue | null;
  /** Fills `into`. False: the value is not there. */
  read(file: string, into: Bytes): boolean;
}

/** For who passes values on to a process that reads them itself. */
export interface NearFiles {
  /**
   * Holds a value open for that process; its bytes where too many are open. Null: the value is not
   * there.
   */
  open(file: string, length: number): PassedValue | null;
}

/** Lets go of what is no memory of this process. */
export function letGo(value: PassedValue | null): void {
  if (value !== null && !(value instanceof Uint8Array)) value.close();
}

/** All of it, in the memory of this process. */
export function bytesOf(value: PassedValue): Bytes {
  return value instanceof Uint8Array ? value : value.bytes();
}
