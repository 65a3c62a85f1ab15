// Keys of how long the history of jobs stays.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { before: 'up.nodes' },
  keys: [
    key(
      'history.keep',
      'duration',
      'none',
      'Accounting records of jobs go when they ended so long ago; `none`: they stay. See accounting.md.',
      { min: 86_400_000 },
    ),
    key(
      'history.jobs',
      'count',
      null,
      'And the oldest beyond so many jobs, a day after their end at the earliest; default: any number.',
      {
        min: 1000,
      },
    ),
    key(
      'history.export',
      'flag',
      'false',
      "Before they go they are written to files in `exported` of the head's folder, a file a month.",
    ),
  ],
};
