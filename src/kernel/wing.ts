// What a wing is to the kernel: what it contributes, by what the kernel asks for. A wing that
// contributes nothing of a kind leaves it out.

import type { ApiPart } from './api/part.ts';
import type { Config } from './config/config.ts';
import type { HeadOptions } from './config/daemon-options.ts';
import type { Head } from './head/head.ts';
import type { HttpSide } from './head/http/server.ts';
import type { HeadPart } from './head/part.ts';
import type { Log } from './ports/log.ts';

export interface Wing {
  readonly name: string;
  /** Other wings that this one imports; no circle. */
  readonly needs: readonly string[];
  readonly api?: () => Promise<ApiPart>;
  /** Made for each head. */
  readonly head?: (program: HeadProgram) => Promise<HeadPart>;
}

/** The program of a head, to its wings. */
export interface HeadProgram {
  readonly options: HeadOptions;
  readonly log: Log;
  /** One line per request that changes something. */
  readonly audit: Log;
  /** The doors are open. Rejects with words when what is to begin then cannot. */
  onServing(begin: (head: Head, door: HttpSide) => void | Promise<void>): void;
  /**
   * The configuration is read again: `read` throws a failure that says what is wrong with it, and gives what has
   * it in force when all is right.
   */
  onReload(read: (config: Config) => () => void): void;
  /** The head is about to stop. */
  onEnd(end: () => void | Promise<void>): void;
}
