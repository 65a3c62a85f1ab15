// What the steps of a node need of the world.

import type { Result } from '../../../kernel/base/result.ts';
import type { EpochId } from '../../../kernel/model/ids.ts';
import type { Owner } from '../../../kernel/ports/files.ts';
import type { Cpu } from '../model/cpu.ts';

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

/** Which cpus of a machine tasks have to bind their steps to. */
export interface CpuBook {
  /**
   * The same until they are given back. `near`: the parts of memory that are near the task's gpus.
   * An error says why there are not as many.
   */
  claim(task: string, count: number, near: readonly number[]): Result<readonly Cpu[], string>;
  giveBack(task: string): void;
}

export interface DialledProcess {
  readonly step: string;
  readonly rank: number;
  readonly epochId: EpochId;
  /** Absent: whoever has started it. */
  readonly watch?: string;
}

export interface StepPorts {
  /** Program and first argument of the helper; null: this node has none. */
  readonly helper: readonly string[] | null;
  /** For all nodes of the machine that are of this program. */
  readonly cpus: CpuBook;
  /** Name of this node: other nodes of the machine may have a part of the same task. */
  readonly node: string;
  makePipes(name: string, owner: Owner | null): Promise<StepPipes>;
  /** Rejects when the head cannot be reached, or knows no such process of this node. */
  dial(process: DialledProcess): Promise<StepLine>;
}
