// What is kept of samples: chunks of columns, and what each task used.

/** A part of one column. */
export interface Chunk {
  /** Which column: its resolution, and whether it has means or peaks. */
  readonly line: number;
  /** Step at which it begins, counted from 1970. */
  readonly start: number;
  readonly bytes: Uint8Array;
}

export interface SeriesChunk extends Chunk {
  /** `n1/cpu`. */
  readonly series: string;
}

/** Over all starts of a job's tasks on all nodes: sums, and the greatest of everything else. */
export interface JobSums {
  parts: number;
  from: number;
  stepMs: number;
  looks: number;
  cpuMilliAsked: number;
  cpuMilliSum: number;
  cpuMilliPeak: number;
  memoryBytesAsked: number;
  memoryBytesSum: number;
  memoryBytesPeak: number;
  gpuMilliAsked: number;
  gpuMilliSum: number;
  gpuMilliPeak: number;
  readBytes: number;
  writtenBytes: number;
}

/** What one start of a task used on one node. */
export interface TaskRow {
  readonly jobId: number;
  readonly epochId: string;
  readonly node: string;
  readonly owner: string;
  /** Ms since 1970: of the first and of the last look. */
  readonly from: number;
  readonly until: number;
  readonly looks: number;
  readonly cpuMilliAsked: number;
  readonly cpuMilliSum: number;
  readonly cpuMilliPeak: number;
  /** 0: no limit. */
  readonly memoryBytesAsked: number;
  readonly memoryBytesSum: number;
  readonly memoryBytesPeak: number;
  /** Thousandths of its gpus; 0: it has none. */
  readonly gpuMilliAsked: number;
  readonly gpuMilliSum: number;
  readonly gpuMilliPeak: number;
  /** From and to disks, as far as nodes may say it. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Steps of its curves, which begin at `from`. */
  readonly stepMs: number;
  readonly cpu: Uint8Array;
  readonly memory: Uint8Array;
  readonly gpu: Uint8Array;
  /** Uuids of its gpus, by commas. */
  readonly cards: string;
}

/** A task that had gpus of a node, and when that was seen first and last. */
export type Holder = Pick<TaskRow, 'epochId' | 'owner' | 'from' | 'until' | 'cards'>;
