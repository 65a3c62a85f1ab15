// Where pieces of output go, as the agents' sessions see it.

import type { LogName } from '../wire/messages.ts';

/** Where pieces of output go. */
export interface LogSink {
  /** Resolves with the size of the file afterwards, once the piece is on disk. */
  append(
    name: LogName,
    piece: { offset: number; bytes: Uint8Array; end: boolean; dropped: number },
  ): Promise<number>;
}
