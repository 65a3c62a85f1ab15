// Options that make many tasks of a job.

import { parseArray } from '../submission-values.ts';
import type { OptionRow } from './row.ts';
import { written } from './types.ts';

export const TASKS = {
  /** One task per index: `0-99`, `1,5,7`, `0-99:2`. */
  array: {
    flags: '--array <indices>',
    words: 'one task per index: 0-99, 1,5,7, 0-99:2; %10 = ten at once',
    field: 'array',
    type: written(parseArray),
    form: { label: 'Array', hint: '0-99, 0-99%10' },
    sbatch: '--array -a',
  },
  eachLine: {
    flags: '--each-line <file>',
    words: 'one task per line of the file (- = standard input): {} the line, {n} its number',
  },
  eachJson: {
    flags: '--each-json <file>',
    words: 'one task per JSON object, one a line: {field} a field of it',
    theirs: '--from-json',
  },
  eachCsv: {
    flags: '--each-csv <file>',
    words: 'one task per row of a CSV file; its first row names the fields',
  },
  sweep: {
    flags: '--sweep <name=values>',
    words:
      'one task per combination: --sweep a=1,2 b=0:3 is {a} 1 and 2 with {b} 0 to 3; b=0:1:0.5 in steps',
    many: true,
  },
  atOnce: {
    flags: '--at-once <count>',
    words: 'at most this many tasks of the job at once',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
