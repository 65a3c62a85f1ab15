// `weft kill`: cancels jobs, or sends their processes a signal.

import { plural } from '../../base/plural.ts';
import { parseSignal } from '../../model/submission-values.ts';
import {
  type Action,
  type ActionOptions,
  actOnJobs,
  defineAction,
  hasTasks,
} from '../jobs/each.ts';
import { read } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

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
    const signal = read('--signal', options.signal, parseSignal) ?? null;
    const action = signal === null ? CANCEL : SIGNAL;
    return actOnJobs(context, { args, options, action }, async (id) => {
      const api = await context.api();
      if (signal === null) {
        const { count } = await api.call('cancelJob', { params: { id } });
        return `Job ${id}: ${plural(count, 'task')} cancelled.`;
      }
      const { count } = await api.call('signalJob', { params: { id }, body: { signal } });
      return `Job ${id}: ${options.signal} sent to ${plural(count, 'task')}.`;
    });
  },
});

const CANCEL: Action = {
  ...{ verb: 'cancel', done: 'cancelled', isFinal: true },
  acts: ({ state }) => state !== 'done',
};

const SIGNAL: Action = {
  ...{ verb: 'signal', done: 'sent a signal', isFinal: true },
  acts: (job) => hasTasks(job, 'running', 'suspended'),
};
