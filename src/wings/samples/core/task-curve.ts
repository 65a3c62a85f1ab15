// What one task uses on one node: sums and peaks, and two curves of at most so many steps, however
// long it runs: when they are full, two steps become one that is twice as long.

import type { TaskRow } from '../model/chunk.ts';
import { LOOK_MS, type TaskUse } from '../model/look.ts';
import { pack, unpack } from './column.ts';
import { amountOf, codeOf, NOTHING } from './level-code.ts';

export const CURVE_STEPS_MAX = 120;

export type TaskName = Pick<
  TaskRow,
  | 'jobId'
  | 'epochId'
  | 'node'
  | 'owner'
  | 'cpuMilliAsked'
  | 'memoryBytesAsked'
  | 'gpuMilliAsked'
  | 'cards'
>;

/** What has come to the sums since the row was written. */
export interface Gain {
  readonly looks: number;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  readonly gpuMilli: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** One step of both curves. */
interface Step {
  cpu: number;
  memory: number;
  gpu: number;
  count: number;
}

export class TaskCurve {
  readonly #name: TaskName;
  readonly #from: number;
  #until: number;
  #looks = 0;
  readonly #sum = { cpu: 0, memory: 0, gpu: 0, read: 0, written: 0 };
  readonly #peak = { cpu: 0, memory: 0, gpu: 0 };
  #stepMs = LOOK_MS;
  #steps: Step[] = [];
  #written: Pick<TaskRow, 'looks' | SumName> | null = null;

  constructor(name: TaskName, from: number) {
    this.#name = name;
    this.#from = from;
    this.#until = from;
  }

  /** Goes on where the row ends: nobody looked for a while, or the head was started again. */
  static after(row: TaskRow, name: TaskName): TaskCurve {
    const curve = new TaskCurve(name, row.from);
    curve.#until = row.until;
    curve.#looks = row.looks;
    curve.#stepMs = Math.max(LOOK_MS, row.stepMs);
    curve.#steps = stepsOf(row);
    const { cpuMilliSum, memoryBytesSum, gpuMilliSum, readBytes: read, writtenBytes } = row;
    const disk = { read, written: writtenBytes };
    const sums = { cpu: cpuMilliSum, memory: memoryBytesSum, gpu: gpuMilliSum, ...disk };
    Object.assign(curve.#sum, sums);
    const { cpuMilliPeak, memoryBytesPeak, gpuMilliPeak } = row;
    Object.assign(curve.#peak, { cpu: cpuMilliPeak, memory: memoryBytesPeak, gpu: gpuMilliPeak });
    curve.wrote(row);
    return curve;
  }

  get jobId(): number {
    return this.#name.jobId;
  }

  /** The row is where it is kept now. */
  wrote(row: TaskRow): void {
    const { looks, cpuMilliSum, memoryBytesSum, gpuMilliSum, readBytes, writtenBytes } = row;
    const disk = { readBytes, writtenBytes };
    this.#written = { looks, cpuMilliSum, memoryBytesSum, gpuMilliSum, ...disk };
  }

  /** False: none of it has been written. */
  get isWritten(): boolean {
    return this.#written !== null;
  }

  gain(): Gain {
    const before = this.#written;
    return {
      looks: this.#looks - (before?.looks ?? 0),
      cpuMilli: this.#sum.cpu - (before?.cpuMilliSum ?? 0),
      memoryBytes: this.#sum.memory - (before?.memoryBytesSum ?? 0),
      gpuMilli: this.#sum.gpu - (before?.gpuMilliSum ?? 0),
      readBytes: this.#sum.read - (before?.readBytes ?? 0),
      writtenBytes: this.#sum.written - (before?.writtenBytes ?? 0),
    };
  }

  get until(): number {
    return this.#until;
  }

  /** False: it is not after the looks before. */
  add(at: number, { cpuMilli, memoryBytes, gpuMilli, disk }: Omit<TaskUse, 'epochId'>): boolean {
    if (at < this.#until) return false;
    const gpu = gpuMilli ?? 0;
    this.#until = at;
    this.#looks += 1;
    this.#sum.cpu += cpuMilli;
    this.#sum.memory += memoryBytes;
    this.#sum.gpu += gpu;
    this.#sum.read += disk?.readBytes ?? 0;
    this.#sum.written += disk?.writtenBytes ?? 0;
    this.#peak.gpu = Math.max(this.#peak.gpu, gpu);
    this.#peak.cpu = Math.max(this.#peak.cpu, cpuMilli);
    this.#peak.memory = Math.max(this.#peak.memory, memoryBytes);
    while (this.#stepAt(at) >= CURVE_STEPS_MAX) this.#halve();
    const step = this.#stepAt(at);
    while (this.#steps.length <= step) this.#steps.push({ cpu: 0, memory: 0, gpu: 0, count: 0 });
    addTo(this.#steps[step] as Step, { cpu: cpuMilli, memory: memoryBytes, gpu, count: 1 });
    return true;
  }

  row(): TaskRow {
    return {
      ...this.figures(),
      cpu: this.#packed(({ cpu, count }) => cpu / count),
      memory: this.#packed(({ memory }) => memory),
      gpu: this.#packed(({ gpu, count }) => gpu / count),
    };
  }

  figures(): Omit<TaskRow, 'cpu' | 'memory' | 'gpu'> {
    return {
      ...this.#name,
      from: this.#from,
      until: this.#until,
      looks: this.#looks,
      cpuMilliSum: Math.round(this.#sum.cpu),
      cpuMilliPeak: Math.round(this.#peak.cpu),
      memoryBytesSum: this.#sum.memory,
      memoryBytesPeak: this.#peak.memory,
      gpuMilliSum: Math.round(this.#sum.gpu),
      gpuMilliPeak: Math.round(this.#peak.gpu),
      readBytes: this.#sum.read,
      writtenBytes: this.#sum.written,
      stepMs: this.#stepMs,
    };
  }

  #packed(amount: (step: Step) => number): Uint8Array {
    return pack(this.#steps.map((step) => (step.count === 0 ? NOTHING : codeOf(amount(step)))));
  }

  #stepAt(at: number): number {
    return Math.floor((at - this.#from) / this.#stepMs);
  }

  #halve(): void {
    const half: Step[] = [];
    this.#steps.forEach((step, at) => {
      if (at % 2 === 0) half.push(step);
      else addTo(half.at(-1) as Step, step);
    });
    this.#steps = half;
    this.#stepMs *= 2;
  }
}

type SumName = 'cpuMilliSum' | 'memoryBytesSum' | 'gpuMilliSum' | 'readBytes' | 'writtenBytes';

/** How many looks were in each is not kept: as many as fit. */
function stepsOf({ cpu, memory, gpu, stepMs }: TaskRow): Step[] {
  const [memories, gpus] = [unpack(memory), unpack(gpu)];
  const looks = Math.max(1, Math.round(stepMs / LOOK_MS));
  const codes = unpack(cpu).slice(0, CURVE_STEPS_MAX);
  return codes.map((code, at) => ({
    cpu: (amountOf(code) ?? 0) * looks,
    memory: amountOf(memories[at] ?? NOTHING) ?? 0,
    gpu: (amountOf(gpus[at] ?? NOTHING) ?? 0) * looks,
    count: code === NOTHING ? 0 : looks,
  }));
}

/** Joins two steps: of cpus and gpus a mean comes of it, of memory the peak. */
function addTo(step: Step, { cpu, memory, gpu, count }: Step): void {
  step.cpu += cpu;
  step.gpu += gpu;
  step.count += count;
  step.memory = Math.max(step.memory, memory);
}
