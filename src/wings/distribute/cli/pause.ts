// `distribute pause`: this machine is its owner's for a while, as with `weft pause`. It stays until
// that is over, because Ctrl-C ended the seed's pause early.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../../../kernel/base/duration.ts';
import { read } from '../../../kernel/cli/submit/read.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { pauseNodes } from '../../owner/cli/pause-verb.ts';
import { unpauseNodes } from '../../owner/cli/unpause-verb.ts';

/** Timers take no more than 24 days. */
const SLEEP_MS_MAX = 86_400_000;

export const pause = defineVerb<{ readonly duration?: string }>({
  define(command) {
    command.argument('[duration]', 'how long, as 1h30m10s (default: 1h)');
    command.option('--duration <duration>', 'the same as the argument');
  },
  async run({ context, args: [operand], options }) {
    if (operand !== undefined && options.duration !== undefined) {
      throw usage('DURATION and --duration are the same thing; write one');
    }
    const durationMs = read('--duration', operand ?? options.duration ?? '1h', parseDuration);
    const until = await pauseNodes(context, undefined, { durationMs, requeue: false });
    context.note('Ctrl-C ends it early; without this command it ends on time all the same');
    if (await interruptedBefore(until)) await unpauseNodes(context, undefined);
    return 0;
  },
});

/** False: the time has come. Other signals end the command and leave the pause. */
async function interruptedBefore(until: number): Promise<boolean> {
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    while (!interrupt.signal.aborted && Date.now() < until) {
      const ms = Math.min(until - Date.now(), SLEEP_MS_MAX);
      await sleep(ms, undefined, { signal: interrupt.signal }).catch(ignoreAbort);
    }
    return interrupt.signal.aborted;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

function ignoreAbort(error: Error): void {
  if (error.name !== 'AbortError') throw error;
}
