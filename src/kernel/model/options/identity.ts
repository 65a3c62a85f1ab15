// Options that say what a job is to people: its name, and who hears of it.

import { COMMENT_BYTES_MAX, NAME_LENGTH_MAX } from '../limits.ts';
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
    form: { label: 'Name', hint: 'the first word' },
    change: { while: 'pending', words: 'name of the job' },
    sbatch: '--job-name -J',
  },
  /** A text about it, which every user may read: one line of 1,024 bytes at most. */
  comment: {
    flags: '--comment <text>',
    words: 'a text about the job, which every user may read: one line, 1,024 bytes at most',
    field: 'comment',
    type: line(COMMENT_BYTES_MAX, 'bytes'),
    change: { while: 'running', words: 'a text about the job' },
    kept: { title: 'Comment' },
    sbatch: '--comment',
  },
  /** Targets that are told of the job's end, as `matrix:@ann:lab`. */
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
