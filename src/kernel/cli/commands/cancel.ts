// `weft cancel`: ends jobs, whether they wait or run.

import { type Action, actionVerb } from '../jobs/each.ts';
import { actOnSteps } from '../jobs/named-steps.ts';
import type { Verb } from '../verb.ts';

/** What `weft kill` does, too, when it names no signal. */
export const CANCEL: Action = {
  verb: 'cancel',
  done: 'cancelled',
  isFinal: true,
  acts: ({ state }) => state !== 'done',
};

const jobs = actionVerb('cancelJob', CANCEL, (id, tasks) => `Job ${id}: ${tasks} cancelled.`);

export const verb: Verb = {
  ...jobs,
  async run(call) {
    const { context, args, options } = call;
    return (await actOnSteps(context, { args, options, signal: null })) ?? jobs.run(call);
  },
};
