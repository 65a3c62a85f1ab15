// What a job used of what it asked for: means, peaks, and a line of time.

import type { JobDetail } from '../../../kernel/api/jobs.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { spark } from '../../../kernel/cli/output/bars.ts';
import type { Titled } from '../../../kernel/cli/output/one.ts';
import type { UsedView } from '../api/samples.ts';
import { cpuUsedWords, diskUsedWords, gpuUsedWords, memoryUsedWords } from '../model/used-words.ts';

const WIDTH = 40;
/** A line of fewer steps says nothing. */
const STEPS_MIN = 3;

/** Nothing where nobody has looked. */
export function usedLines({ used, request }: Pick<JobDetail, 'used' | 'request'>): Titled[] {
  if (used == null) return [];
  const { cpuMilli, memoryBytes, gpuMilli, parts } = used;
  // A start on several nodes is as many parts.
  const isWhole = request.nodeCount === 1;
  const what = isWhole ? plural(parts, 'start') : `${parts} parts of tasks on their nodes`;
  const of = parts === 1 ? '' : ` (per node, over ${what})`;
  return [
    ['Cpus used', curved(`${cpuUsedWords(cpuMilli)}${of}`, cpuMilli)],
    ['Memory used', curved(memoryUsedWords(memoryBytes), memoryBytes)],
    ['Disk used', diskUsedWords(used)],
    ['Gpus used', gpuMilli === null ? '' : curved(gpuUsedWords(gpuMilli), gpuMilli)],
  ];
}

/** The line is as high as what was asked for, or what was used beyond that. */
function curved(words: string, { asked, peak, curve }: UsedView['cpuMilli']): string {
  if (curve.length < STEPS_MIN) return words;
  return `${spark(curve, Math.max(asked, peak), WIDTH)}  ${words}`;
}
