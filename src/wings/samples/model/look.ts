// What an agent sees at one look, and what becomes of many: how much was used, by whom, over time.

import type { SlowedBy } from '../../../kernel/model/gpu.ts';

/** Agents look so often. */
export const LOOK_MS = 10_000;
/** Looks that an agent keeps while no head takes them: an hour. */
export const LOOKS_KEPT_MAX = 360;
/** Tasks of one look that are told; nodes that run more tell of the first. */
export const TASKS_PER_LOOK_MAX = 4096;

/** What the processes of a machine, or of one task on it, use. */
export interface Use {
  /** Thousandths of a cpu, on average since the look before. */
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

/** Bytes a second. */
export interface NodeFlow {
  readonly readRate: number;
  readonly writtenRate: number;
  readonly receivedRate: number;
  readonly sentRate: number;
}

/** A machine of which the disks and networks are known, too. */
export interface NodeUse extends Use {
  readonly flow?: NodeFlow;
}

export interface TaskUse extends Use {
  readonly epochId: string;
  /** Thousandths of its gpus that worked; null: it has none, or nobody says. */
  readonly gpuMilli: number | null;
  /** Bytes from and to disks since the look before. Absent: nobody says. */
  readonly disk?: { readonly readBytes: number; readonly writtenBytes: number };
}

/** A gpu of the node. */
export interface GpuUse {
  readonly number: number;
  readonly busyPercent: number;
  readonly memoryBytes: number;
  /** Absent: its tool does not say. */
  readonly watts?: number;
  readonly celsius?: number;
  /** What keeps it slow; null: nothing. Absent: its tool does not say. */
  readonly slowedBy?: SlowedBy | null;
  /** Errors of its memory that it has corrected since its driver was loaded. Absent: not known. */
  readonly correctedErrors?: number;
}

/** Gpus of one look that are told. */
export const GPUS_PER_LOOK_MAX = 128;

export interface Look {
  /** Ms since 1970, by the clock of who tells of it. */
  readonly at: number;
  /** Null when the machine does not say. */
  readonly node: NodeUse | null;
  readonly tasks: readonly TaskUse[];
  readonly gpus: readonly GpuUse[];
}

/** One step of a curve. Null: nobody looked then. */
export type Point = number | null;
