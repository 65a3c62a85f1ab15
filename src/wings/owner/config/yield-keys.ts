// Keys of when a node stands aside by itself for whoever uses its machine.

import { type Key, key } from '../../../kernel/config/key.ts';

export const YIELD_KEYS: readonly Key[] = [
  key(
    'node.yield.idle_below',
    'duration',
    null,
    'The node stands aside while somebody has typed or moved the mouse less than this ago. See pause.md.',
    // The kernel notes input on terminals every eight seconds, and agents look every five.
    { min: 10_000 },
  ),
  key('node.yield.sessions', 'flag', 'false', 'It stands aside while anybody is logged in.'),
  key(
    'node.yield.load_above',
    'number',
    null,
    'It stands aside while programs other than tasks keep more cpus than this busy.',
    { min: 0.01, max: 10_000 },
  ),
  key(
    'node.yield.hours',
    'hours',
    null,
    "Its owner's hours, in which it stands aside: `Mon-Fri 08:00-18:00`, in its local time.",
  ),
  key(
    'node.yield.resume_after',
    'duration',
    '5m',
    'It takes work again when none of these has held for this long.',
    { min: 1000 },
  ),
  key(
    'node.yield.vacate_after',
    'duration',
    '30m',
    'Tasks that may be requeued go elsewhere when it has stood aside for this long; `none`: never.',
  ),
];
