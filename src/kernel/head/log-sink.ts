// Where pieces of output go, as the agents' sessions see it.

import type { LogName } from '../wire/messages.ts';

/** What is kept of a file after a piece of it. */
export interface Kept {
  /** The agent goes on here; less than the piece's offset when something before it is missing. */
  readonly offset: number;
  /** The file is complete: its end piece is kept. */
  readonly end: boolean;
}

/** Where pieces of output go. */
export interface LogSink {
  /** Resolves once the piece is on disk; a piece that comes again is kept once. */
  append(
    name: LogName,
    piece: { offset: number; bytes: Uint8Array; end: boolean; dropped: number; tail?: Uint8Array },
  ): Promise<Kept>;
  /** Both outputs of the process are over and empty. False: pieces must say so. Absent: always. */
  endSilently?(process: Omit<LogName, 'stream'>): boolean;
}
