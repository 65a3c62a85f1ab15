// What one task uses on one node: sums and peaks, and two curves of at most so many steps, however long it
// runs: when they are full, two steps become one that is twice as long.

import type { TaskRow } from '../model/chunk.ts';
import { LOOK_MS, type TaskUse } from '../model/look.ts';
import { pack } from './column.ts';
import { codeOf, NOTHING } from './level-code.ts';

export const CURVE_STEPS_MAX = 120;

export type TaskName = Pick<
  TaskRow,
  'jobId' | 'epochId' | 'node' | 'owner' | 'cpuMilliAsked' | 'memoryBytesAsked' | 'gpuMilliAsked'
>;

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
  readonly #sum = { cpu: 0, memory: 0, gpu: 0 };
  readonly #peak = { cpu: 0, memory: 0, gpu: 0 };
  #stepMs = LOOK_MS;
  #steps: Step[] = [];

  constructor(name: TaskName, from: number) {
    this.#name = name;
    this.#from = from;
    this.#until = from;
  }

  get until(): number {
    return this.#until;
  }

  /** False: it is not after the looks before. */
  add(at: number, { cpuMilli, memoryBytes, gpuMilli }: Omit<TaskUse, 'epochId'>): boolean {
    if (at < this.#until) return false;
    const gpu = gpuMilli ?? 0;
    this.#until = at;
    this.#looks += 1;
    this.#sum.cpu += cpuMilli;
    this.#sum.memory += memoryBytes;
    this.#sum.gpu += gpu;
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
      stepMs: this.#stepMs,
      cpu: this.#packed(({ cpu, count }) => cpu / count),
      memory: this.#packed(({ memory }) => memory),
      gpu: this.#packed(({ gpu, count }) => gpu / count),
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

/** Joins two steps: of cpus and gpus a mean comes of it, of memory the peak. */
function addTo(step: Step, { cpu, memory, gpu, count }: Step): void {
  step.cpu += cpu;
  step.gpu += gpu;
  step.count += count;
  step.memory = Math.max(step.memory, memory);
}
