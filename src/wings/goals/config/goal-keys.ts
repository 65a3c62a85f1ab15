// Keys of goal state: where the goals stand, how often nodes are looked at, and whether the cluster
// repairs by itself.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { before: 'up.nodes' },
  atStart: ['goals.url', 'goals.refresh'],
  keys: [
    key(
      'goals.file',
      'text',
      null,
      'What nodes are to be like; default: nothing. See maintenance.md.',
    ),
    key(
      'goals.url',
      'text',
      null,
      'In place of goals.file: the goals as an HTTPS server has them. The last good ones stay in force.',
    ),
    key('goals.refresh', 'duration', '1m', 'Between two readings of goals.url.', { min: 1000 }),
    key('goals.every', 'duration', '1h', 'Between two looks at a node.', { min: 1000 }),
    key('goals.repair', 'flag', 'true', 'Plan maintenance for nodes that differ from their goals.'),
  ],
};
