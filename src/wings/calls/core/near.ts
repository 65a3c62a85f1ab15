// Large values between processes of one user on one machine: the one that has them puts them into
// memory that both can read, and says where; no byte goes over a line.

import type { Bytes } from './messages.ts';

/** A value where others can read it, until it is closed. */
export interface NearValue {
  /** What the reader is told. */
  readonly file: string;
  close(): void;
}

export interface NearBytes {
  /** Null: there is no room, and the value goes over the line. */
  offer(bytes: Bytes): NearValue | null;
  /** Fills `into`. False: the value is not there. */
  read(file: string, into: Bytes): boolean;
}
