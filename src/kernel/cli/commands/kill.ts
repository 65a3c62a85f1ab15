// `weft kill`: sends processes a signal; without one it is `weft cancel`.

import { plural } from '../../base/plural.ts';
import { parseSignal } from '../../model/submission-values.ts';
import {
  type Action,
  type ActionOptions,
  actOnJobs,
  defineAction,
  hasTasks,
} from '../jobs/each.ts';
import { actOnSteps } from '../jobs/named-steps.ts';
import { read } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';
import { CANCEL, verb as cancel } from './cancel.ts';

interface Options extends ActionOptions {
  readonly signal?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    defineAction(command, CANCEL);
    command.option(
      '-s, --signal <signal>',
      'send this signal instead of cancelling, such as USR1 or 10',
    );
  },
  async run({ context, args, options }) {
    const signal = read('--signal', options.signal, parseSignal);
    if (signal === undefined) return cancel.run({ context, args, options: { ...options } });
    const step = { name: options.signal ?? '', number: signal };
    const { signal: _, ...rest } = options;
    const asked = await actOnSteps(context, { args, options: rest, signal: step });
    if (asked !== null) return asked;
    return actOnJobs(context, { args, options, action: SIGNAL }, async (id) => {
      const api = await context.api();
      const { count } = await api.call('signalJob', { params: { id }, body: { signal } });
      return `Job ${id}: ${options.signal} sent to ${plural(count, 'task')}.`;
    });
  },
});

const SIGNAL: Action = {
  verb: 'signal',
  done: 'sent a signal',
  isFinal: true,
  acts: (job) => hasTasks(job, 'running', 'suspended'),
};
