// Keys of backups: where they go, how often one is made, and how many stay.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';
import { PLACE_FORM } from '../core/place.ts';

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { before: 'up.nodes' },
  keys: [
    key(
      'backup.to',
      'text',
      null,
      'Folder for backups of the head, best on another disk, or s3://BUCKET/PREFIX; default: none is made by itself. See backup.md.',
      { form: PLACE_FORM },
    ),
    key(
      'backup.keys_file',
      'text',
      null,
      'File of mode 0600 with AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=… for a bucket; default: the environment of the head.',
      { form: { is: /^\/[^\0]*$/, expected: 'an absolute path' } },
    ),
    key('backup.every', 'duration', '1h', 'Between two backups.', { min: 60_000 }),
    key('backup.keep', 'count', '24', 'Backups that stay; the oldest beyond them go.', { min: 1 }),
  ],
};
