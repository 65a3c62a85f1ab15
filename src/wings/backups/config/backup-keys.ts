// Keys of backups: where they go, how often one is made, and how many stay.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { before: 'up.nodes' },
  keys: [
    key(
      'backup.to',
      'text',
      null,
      'Folder for backups of the head, best on another disk; default: none is made by itself. See backup.md.',
      { form: { is: /^\/[^\0]*$/, expected: 'an absolute path' } },
    ),
    key('backup.every', 'duration', '1h', 'Between two backups.', { min: 60_000 }),
    key('backup.keep', 'count', '24', 'Backups that stay; the oldest beyond them go.', { min: 1 }),
  ],
};
