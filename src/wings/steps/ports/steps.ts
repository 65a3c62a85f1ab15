// What the steps of a node need of the world.

import type { Owner } from '../../../kernel/ports/files.ts';

/** Two named pipes between the agent and the helper of one process. */
export interface StepPipes {
  /** For its descriptors 0 and 1. */
  readonly inPath: string;
  readonly outPath: string;
  /** Resolves when the system has taken all of it. */
  write(bytes: Buffer): Promise<void>;
  /** Called with what comes, until `pause`. */
  onBytes(heard: (bytes: Buffer) => void): void;
  pause(): void;
  resume(): void;
  /** The helper is gone: `ended` is called behind all that it has said. */
  finish(ended: () => void): void;
  /** Also removes both. */
  close(): void;
}

/** A connection to the head, over which bytes go in both directions. */
export interface StepLine {
  send(bytes: Buffer): void;
  onBytes(heard: (bytes: Buffer) => void): void;
  /** Called once. */
  onClose(gone: () => void): void;
  close(): void;
}

export interface StepPorts {
  /** Program and first argument of the helper; null: this node has none. */
  readonly helper: readonly string[] | null;
  makePipes(name: string, owner: Owner | null): Promise<StepPipes>;
  /** Rejects when the head cannot be reached, or knows no such process of this node. */
  dial(step: string, rank: number): Promise<StepLine>;
}
