// How many workers: as many as `-n` says, or between `--min` and `--max`.

import type { Command } from 'commander';
import { parseDuration } from '../../../kernel/base/duration.ts';
import { dropUndefined, read } from '../../../kernel/cli/submit/read.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { POOL_WORKERS_MAX } from '../../../kernel/model/limits.ts';
import { parseCount } from '../../../kernel/model/submission-values.ts';

export interface RangeOptions {
  readonly workers?: string;
  readonly min?: string;
  readonly max?: string;
  readonly idle?: string;
}

export const POOL_OPERAND = 'number of a pool, or the name of one of yours';

export function defineRange(command: Command): void {
  command.option('-n, --workers <count>', 'this many workers, whether or not they have work');
  command.option('--min <count>', 'keep at least this many workers when idle');
  command.option('--max <count>', 'at most this many workers, as many as there is work for');
  command.option('--idle <duration>', 'a worker beyond --min ends after this long without work');
}

/** Only what was given. */
export function readRange({ workers, min, max, idle }: RangeOptions) {
  if (workers !== undefined && (min ?? max ?? idle) !== undefined) {
    throw usage('--workers says how many there are; leave --min, --max and --idle out');
  }
  const count = (flag: string, text: string | undefined, from: number) =>
    read(flag, text, (value) => parseCount(value, from, POOL_WORKERS_MAX));
  const both = count('--workers', workers, 1);
  const range = {
    min: both ?? count('--min', min, 0),
    max: both ?? count('--max', max, 1),
    idleMs: read('--idle', idle, parseDuration),
  };
  if (range.min !== undefined && range.max !== undefined && range.min > range.max) {
    throw usage(`--min: ${range.min} is more than --max, which is ${range.max}`);
  }
  return dropUndefined(range);
}
