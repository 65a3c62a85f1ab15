// `cmdaemon`: head or agent in the foreground; which one, the environment says, as in the seed.

import { existsSync } from 'node:fs';
import { runAgent } from '../../../kernel/cli/commands/agent.ts';
import { runHead } from '../../../kernel/cli/commands/head.ts';
import { joinCluster } from '../../../kernel/cli/commands/join.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { LocalPaths } from '../../../kernel/cli/daemons/local-paths.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';

export const summary = 'Run the head (CM_SERVER_TYPE=head) or the agent of a node (=node).';

export const verb = defineVerb<{ logFile?: string }>({
  define: (command) => void command.option('--log-file <file>', 'log there, not to standard error'),
  async run({ context, options }) {
    const role = context.environment['CM_SERVER_TYPE'];
    if (role === 'head') {
      tellOfDatabase(context);
      return runHead(context, options);
    }
    if (role !== 'node') {
      const what = role === undefined ? 'is not set' : `is '${role}'`;
      throw usage(`CM_SERVER_TYPE ${what}; it must be head or node`);
    }
    const { membership } = new LocalPaths(context.directory);
    const token = context.environment['WEFT_JOIN'];
    if (!existsSync(membership) && token) await joinCluster(context, token);
    else if (!existsSync(membership)) {
      // The seed let any machine in that knew the address; here it must have joined once.
      const address = context.environment['CM_MASTER_ADDR'] ?? 'the head';
      const hint = `On ${address}: weft token join. Here: weft join, and paste it, or set WEFT_JOIN to it.`;
      throw usage('this machine has not joined a cluster', hint);
    }
    return runAgent(context, options);
  },
});

/** Nobody should look for their jobs in a database that is not used. */
function tellOfDatabase(context: Context): void {
  const set = Object.keys(context.environment).filter((name) => name.startsWith('CM_DATABASE_'));
  if (set.length === 0) return;
  const { head } = new LocalPaths(context.directory);
  context.note(`${set.sort().join(', ')}: no database server is used; jobs are kept in ${head}`);
}
