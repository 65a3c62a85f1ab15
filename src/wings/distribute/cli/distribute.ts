// The program `distribute`: the seed's commands by their names, each what it is in Weft.

import { plural } from '../../../kernel/base/plural.ts';
import type { Verb, VerbProgram } from '../../../kernel/cli/verb.ts';
import { KINDS } from '../../../kernel/model/errors.ts';
import { add } from './add.ts';
import { batchNamed, paramsOf } from './batch-names.ts';
import { client } from './client.ts';
import { headVerb } from './head-flags.ts';
import { nodeStatus } from './node-status.ts';
import { pause } from './pause.ts';
import { pull } from './pull.ts';
import { run } from './run.ts';
import { server } from './server.ts';
import { serverStatus } from './server-status.ts';
import { slurm } from './slurm.ts';
import { template } from './template.ts';
import { defineLogFlags, withLog, withoutLog } from './unused.ts';

/** `distribute kill`: cancels what waits and runs of a batch. */
const kill = headVerb({
  define: (command) => void command.argument('<name>', 'BATCH, or NAMESPACE/BATCH'),
  async run({ context, args: [name = ''] }) {
    const api = await context.api();
    const { batches } = await api.call('listBatches');
    const batch = batchNamed(batches, name);
    const { count } = await api.call('cancelBatch', { params: paramsOf(batch) });
    if (count === 0) {
      context.note(`no job of ${batch.title} waits or runs`);
      return KINDS.failed_precondition.exit;
    }
    context.print(
      `${plural(count, 'job')} of ${batch.title} ${count === 1 ? 'is' : 'are'} cancelled.`,
    );
    return 0;
  },
});

/** What people say to it that is a command of another name, or of Weft's. */
const MEANT: Readonly<Record<string, string>> = {
  // Its own documents say it, of the batches.
  status: "distribute server-status' (batches) or 'distribute node-status",
  nodes: 'distribute node-status',
  submit: 'distribute add',
  cancel: 'distribute kill',
  unpause: 'weft unpause',
  ...Object.fromEntries(
    ['check', 'list', 'show', 'logs', 'wait', 'retry', 'rebuild', 'remove'].map((verb) => {
      return [verb, `weft batch ${verb}`];
    }),
  ),
};

export const distribute: VerbProgram = {
  summary: 'The commands of distribute, carried out by Weft.',
  define: (command) => defineLogFlags(command, 'of server and client'),
  meant: (word) => (Object.hasOwn(MEANT, word) ? (MEANT[word] ?? null) : null),
  verbs: {
    add: entry('submit a batch', add),
    'server-status': entry('show batches that wait or run', serverStatus),
    kill: entry('cancel what waits and runs of a batch', kill),
    pull: entry('fetch what the jobs of a batch have left', pull),
    'node-status': entry('show which nodes are there', nodeStatus),
    pause: entry('take this machine back for a while', pause),
    run: entry('run a batch on this machine, without a cluster', run),
    template: entry('write a batch file to begin with', template),
    slurm: entry('write a folder that Slurm runs', slurm),
    server: { summary: 'run the head', verb: withLog(server) },
    client: { summary: 'run the agent of a node', verb: withLog(client) },
  },
};

function entry(summary: string, verb: Verb) {
  return { summary, verb: withoutLog(verb) };
}
