// Whoever brings files to the head and from it: the way there, and how those who wait are told.

import type { HeadAccess } from './head-access.ts';

/** What goes on, for people. */
export type Errand = 'reading' | 'sending' | 'fetching' | 'comparing';

/** How far one errand is. */
export interface Progress {
  /** Begins with the number of bytes to move. */
  start(totalBytes: number): void;
  /** Counts bytes that have moved. */
  readonly moved: (bytes: number) => void;
  /** Ends the line; may be called again. */
  stop(): void;
}

export interface TransferContext {
  readonly access: HeadAccess;
  /** One line for people: what they should know beside the result. */
  note(line: string): void;
  progress(errand: Errand): Progress;
}
