// Options that say what a job is to people: its name, and who hears of it.

import { NAME_LENGTH_MAX } from '../limits.ts';
import { parseNotify } from '../submission-values.ts';
import type { OptionRow } from './row.ts';
import { line, several } from './types.ts';

export const IDENTITY = {
  /** Default: the first word of the command. */
  name: {
    flags: '--name <name>',
    words: "name of the job (default: the command's first word)",
    field: 'name',
    type: line(NAME_LENGTH_MAX),
    change: { while: 'pending', words: 'name of the job' },
    sbatch: '--job-name -J',
  },
  /** Who is told of its end, as `matrix:@ann:lab`. */
  notify: {
    flags: '--notify <whom>',
    words:
      'when it is done, notify matrix:@ann:lab, mail:ADDRESS, webhook:URL or command:NAME (repeatable)',
    many: true,
    field: 'notify',
    type: several(parseNotify),
    pool: true,
    theirs: '--mail-type --mail-user',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
