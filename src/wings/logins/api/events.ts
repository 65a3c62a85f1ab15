// Events of trusted nodes as the stream shows them.

import { type EventKinds, shownTo } from '../../../kernel/api/event-kinds.ts';

export const trustEvents = {
  node_trusted: shownTo(
    'admin',
    'An admin lets a node vouch for its users when they log in.',
    'node',
  ),
  node_distrusted: shownTo('admin', 'A node vouches for nobody any more.', 'node by'),
} as const satisfies EventKinds;
