// The gpus of this machine, given out to the jobs of a local run by their numbers.

import { plural } from '../../../../kernel/base/plural.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import type { BatchFile } from '../../core/batch.ts';

/** Refuses jobs that could never have what they ask for here. */
export function checkGpus({ jobs }: Pick<BatchFile, 'jobs'>, gpuCount: number): void {
  const over = jobs.find((job) => (job.gpuCount ?? 0) > gpuCount);
  if (over === undefined) return;
  const has = gpuCount === 0 ? 'none' : String(gpuCount);
  throw usage(
    `job ${over.name} asks for ${plural(over.gpuCount ?? 0, 'gpu')}; this machine has ${has}`,
  );
}

export class Gpus {
  readonly #free: number[];

  constructor(gpuCount: number) {
    this.#free = Array.from({ length: gpuCount }, (_, number) => number);
  }

  /** The lowest that are free: whoever asks has seen that there are so many. */
  take(count: number): readonly number[] {
    return this.#free.splice(0, count);
  }

  giveBack(numbers: readonly number[]): void {
    this.#free.push(...numbers);
    this.#free.sort((a, b) => a - b);
  }
}

/** What a job sees of them; one that says nothing of gpus sees what there is. */
export function gpuVariables(
  gpuCount: number | null,
  numbers: readonly number[],
): Readonly<Record<string, string>> {
  if (gpuCount === null) return {};
  const list = numbers.join(',');
  return { WEFT_GPUS: list, CUDA_VISIBLE_DEVICES: list };
}
