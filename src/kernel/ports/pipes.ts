// Named pipes, through which a process of a task reads what a client sends while it runs.

import type { Owner } from './files.ts';

/** The writing end. */
export interface FeedPipe {
  /** Resolves when the system has taken all of it: a slow reader makes this wait. */
  write(bytes: Uint8Array): Promise<void>;
  /** The reader finds the end once it has read what was written. */
  close(): void;
}

/** Makes named pipes. */
export interface Pipes {
  /** Only its owner may read it. It is open for writing, so that a reader never waits for that. */
  make(path: string, owner: Owner | null): Promise<FeedPipe>;
}
