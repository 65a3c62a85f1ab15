// `weft cancel`: ends jobs, whether they wait or run.

import { type Action, actionVerb } from '../jobs/each.ts';

/** What `weft kill` does, too, when it names no signal. */
export const CANCEL: Action = {
  verb: 'cancel',
  done: 'cancelled',
  isFinal: true,
  acts: ({ state }) => state !== 'done',
};

export const verb = actionVerb(
  'cancelJob',
  CANCEL,
  (id, tasks) => `Job ${id}: ${tasks} cancelled.`,
);
