// Events of pools as the stream shows them.

import { type EventKinds, shownTo } from '../../../kernel/api/event-kinds.ts';

export const poolEvents = {
  pool_scaled: shownTo(
    'job',
    'A pool asks for another number of workers, or may ask for others.',
    'min max idleMs target by',
  ),
} as const satisfies EventKinds;
