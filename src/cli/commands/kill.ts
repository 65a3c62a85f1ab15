// `weft kill`: cancels jobs, or sends their processes a signal.

import { didYouMean } from '../../core/base/nearest-word.ts';
import { usage } from '../failure.ts';
import { forEachJob } from '../jobs/each.ts';
import { SIGNALS } from '../output/words.ts';
import { defineVerb } from '../verb.ts';

export const verb = defineVerb<{ signal?: string }>({
  define(command) {
    command.argument('<job...>', 'job ids: 42, or 42[7] for one task of an array');
    command.option('-s, --signal <signal>', 'send this signal instead, such as USR1 or 10');
  },
  async run({ context, args, options }) {
    const signal = options.signal === undefined ? null : readSignal(options.signal);
    const api = await context.api();
    return forEachJob(context, args, async (id) => {
      if (signal === null) {
        const { count } = await api.call('cancelJob', { params: { id } });
        context.print(`Job ${id}: ${tasks(count)} cancelled.`);
      } else {
        const { count } = await api.call('signalJob', { params: { id }, body: { signal } });
        context.print(`Job ${id}: ${options.signal} sent to ${tasks(count)}.`);
      }
    });
  },
});

function tasks(count: number): string {
  return count === 1 ? '1 task' : `${count} tasks`;
}

/** `USR1`, `SIGUSR1`, `usr1` or a number. */
export function readSignal(text: string): number {
  const name = text.toUpperCase().replace(/^SIG/, '');
  const number = SIGNALS[name] ?? (/^\d{1,2}$/.test(name) ? Number(name) : 0);
  if (number >= 1 && number <= 64) return number;
  throw usage(`--signal: '${text}' is not a signal.${didYouMean(name, Object.keys(SIGNALS))}`);
}
