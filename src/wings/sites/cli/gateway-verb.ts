// `weft gateway`: the agent of a site that another system runs, in the foreground, for a service
// manager.

import { runAgent } from '../../../kernel/cli/commands/agent.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { SITE_SYSTEMS } from '../../../kernel/model/site.ts';

interface Options {
  readonly logFile?: string;
}

/** An agent; but one that is told of no site would run tasks on this very machine. */
export const verb = defineVerb<Options>({
  define(command) {
    command.option('--log-file <file>', 'log there, not to standard error');
  },
  async run({ context, options }) {
    const config = await context.config();
    if (config.text('site.system') === null) {
      const words = SITE_SYSTEMS.join(', ');
      const hint = `Set site.system in weft.yaml to one of ${words}; docs/sites.md has an example.`;
      throw usage('no site is configured (site.system)', hint);
    }
    return runAgent(context, options);
  },
});
