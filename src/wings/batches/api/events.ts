// Events of batches as the stream shows them.

import { type EventKinds, shownTo } from '../../../kernel/api/event-kinds.ts';

export const batchEvents = {
  batch_submitted: shownTo(
    'admin',
    'A batch was accepted, with all of its jobs.',
    'batch owner origin after build jobs',
  ),
  batch_resumed: shownTo(
    'admin',
    'What did not complete of a batch was submitted again.',
    'batch jobs',
  ),
  build_failed: shownTo(
    'job',
    'The solver of a batch could not be built on a node.',
    'batch node epochId',
  ),
  failed_builds_forgotten: shownTo(
    'admin',
    'Nodes that could not build a solver are tried again.',
    'batch',
  ),
  build_renewed: shownTo(
    'admin',
    'The solver of a batch is built anew, on every node.',
    'batch by',
  ),
  batch_removed: shownTo('admin', 'A batch that is over was removed.', 'batch by'),
  batches_forgotten: shownTo('admin', 'Batches that ended long ago have left memory.', 'batches'),
} as const satisfies EventKinds;
