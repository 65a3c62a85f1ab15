// Ways by which a process of a task reads what a client sends while it runs.

import type { Owner } from './files.ts';

/** The writing end. */
export interface FeedPipe {
  /**
   * Resolves when the system has taken all of it: a slow reader makes this wait. After a failure
   * the same bytes can be given again.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** The reader finds the end once it has read what was written. */
  end(): Promise<void>;
  /** Nobody reads it any more: nothing of it stays. */
  remove(): void;
}

/** One that an earlier agent made. */
export interface ResumedPipe {
  readonly pipe: FeedPipe;
  /** What was written. */
  readonly bytes: number;
  readonly isEnded: boolean;
}

export interface Pipes {
  /** Only its owner may read it. A reader never waits for its writer to open it. */
  make(path: string, owner: Owner | null): Promise<FeedPipe>;
  /** Null: what was written for its reader ended with the agent that made it. */
  resume(path: string): ResumedPipe | null;
  /** Takes away what nobody knows any more. Nothing need be there. */
  remove(path: string): void;
}
