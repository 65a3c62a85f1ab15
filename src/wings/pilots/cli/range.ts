// How many pilots: as many as `-n` says, once, or between `--min` and `--max` by what waits for
// them.

import type { Command } from 'commander';
import { parseDuration } from '../../../kernel/base/duration.ts';
import { dropUndefined, read } from '../../../kernel/cli/submit/read.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { PILOTS_MAX } from '../../../kernel/model/limits.ts';
import { parseCount } from '../../../kernel/model/submission-values.ts';

export interface RangeOptions {
  readonly min?: string;
  readonly max?: string;
  readonly idle?: string;
}

export function defineRange(command: Command): void {
  command.option('--min <count>', 'keep at least this many pilots when idle');
  command.option('--max <count>', 'at most this many pilots, as many as there is work for');
  command.option('--idle <duration>', 'a pilot beyond --min ends after this long without work');
}

/** Only what was given. */
export function readRange({ min, max, idle }: RangeOptions) {
  const count = (flag: string, text: string | undefined, from: number) =>
    read(flag, text, (value) => parseCount(value, from, PILOTS_MAX));
  const range = {
    min: count('--min', min, 0),
    max: count('--max', max, 1),
    idleMs: read('--idle', idle, parseDuration),
  };
  if (range.min !== undefined && range.max !== undefined && range.min > range.max) {
    throw usage(`--min: ${range.min} is more than --max, which is ${range.max}`);
  }
  return dropUndefined(range);
}
