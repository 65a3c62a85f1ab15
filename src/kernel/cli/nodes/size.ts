// What `weft node modify` is to declare, from its options.

import { CPUS_PER_NODE_MAX, GPUS_PER_NODE_MAX } from '../../model/limits.ts';
import { parseCount, parseMemory } from '../../model/submission-values.ts';
import { dropUndefined, read } from '../submit/read.ts';

export interface SizeOptions {
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
}

/** Only what was given. */
export function readSize({ cpus, memory, gpus }: SizeOptions) {
  return dropUndefined({
    cpuCount: read('--cpus', cpus, (text) => parseCount(text, 0, CPUS_PER_NODE_MAX)),
    memoryBytes: read('--memory', memory, parseMemory),
    gpuCount: read('--gpus', gpus, (text) => parseCount(text, 0, GPUS_PER_NODE_MAX)),
  });
}
