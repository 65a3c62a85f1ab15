// Keys of goal state: where the goals stand, how often nodes are looked at, and whether the cluster
// repairs by itself.

import { type Key, key } from '../key.ts';

export const GOAL_KEYS: readonly Key[] = [
  key(
    'goals.file',
    'text',
    null,
    'What nodes are to be like; default: nothing. See maintenance.md.',
  ),
  key('goals.every', 'duration', '1h', 'Between two looks at a node.', { min: 1000 }),
  key('goals.repair', 'flag', 'true', 'Plan maintenance for nodes that differ from their goals.'),
];
