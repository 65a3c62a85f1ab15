// Keys of pauses: who may ask a node for one, and when it stands aside by itself for whoever uses
// its machine.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';
import { PAUSE_MAX_MS } from '../../../kernel/model/pause.ts';

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { after: 'node.switch_user' },
  keys: [
    key(
      'node.owners',
      'texts',
      '',
      'Users who may pause this node, besides whoever is logged in at its console. See pause.md.',
    ),
    key(
      'node.owner_file',
      'text',
      '/etc/weft/owner.yaml',
      'Where the owner of the machine says of whom it takes jobs, and what stays the owner’s. See pause.md.',
    ),
    key(
      'node.pause_max',
      'duration',
      formatDuration(PAUSE_MAX_MS),
      'Longest pause that a user may ask for; `none`: no pauses.',
      { min: 1000, max: 30 * 86_400_000 },
    ),
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
      'node.yield.gpus',
      'flag',
      'false',
      'It stands aside while somebody uses one of its gpus outside of tasks. See gpus.md.',
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
  ],
};
