// Whoever brings files to the head and from it: the way there, and how those who wait are told.

import type { HeadAccess } from './head-access.ts';

/** What goes on, for people. */
export type Errand = 'reading' | 'sending' | 'fetching' | 'comparing';

/** How far one errand is. */
export interface Progress {
  /** So much is to go. */
  start(totalBytes: number): void;
  /** So many bytes more have gone. */
  readonly moved: (bytes: number) => void;
  /** It is over; may be called again. */
  stop(): void;
}

export interface TransferContext {
  readonly access: HeadAccess;
  /** One line for people: what they should know beside the result. */
  note(line: string): void;
  progress(errand: Errand): Progress;
}
