// `weft top`: nodes and jobs on the whole screen, live, with keys that act on them.

import { TASK_STATES } from '../../model/job.ts';
import { choice, nameIn } from '../jobs/row-options.ts';
import { fetchFacts } from '../top/facts.ts';
import { drawOnce } from '../top/frame.ts';
import { TopSession } from '../top/session.ts';
import { defineVerb } from '../verb.ts';
import { readInterval } from '../watch.ts';

interface Options {
  readonly mine?: boolean;
  readonly user?: string;
  readonly state?: string;
  readonly filter?: string;
  readonly interval?: string;
  readonly once?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('-m, --mine', 'only your own jobs');
    command.option('-u, --user <name>', "only this user's jobs");
    command.option('-s, --state <state>', 'only jobs in this state, active or all', 'active');
    command.option('--filter <words>', 'only rows with these words, as the key / does');
    command.option('-n, --interval <time>', 'time between two looks', '2s');
    command.option('--once', 'print one picture and end; so it is where there is no terminal');
  },
  async run({ context, options }) {
    const intervalMs = readInterval('--interval', options.interval ?? '2s');
    const state = choice('--state', options.state, [...TASK_STATES, 'active', 'all']) ?? 'active';
    const api = await context.api();
    const own = options.mine ? (await api.call('whoami')).name : undefined;
    const owner = own ?? nameIn('--user', options.user);
    const asked = { state, ...(owner === undefined ? {} : { owner }) };
    const facts = await fetchFacts(api, { ...asked, sort: 'newest' });
    const { paint, wings } = context;
    const filter = options.filter ?? '';
    const { screen } = context.terminal;
    if (options.once || screen === undefined) {
      const lines = drawOnce(facts, { filter, paint, width: context.width });
      for (const line of lines) context.print(line);
      return 0;
    }
    await new TopSession({ api, wings, screen, paint, asked, filter, intervalMs }, facts).run();
    return 0;
  },
});
