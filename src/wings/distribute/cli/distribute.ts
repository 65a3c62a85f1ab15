// The program `distribute`: the seed's commands by their names, each what it is in Weft.

import type { Verb, VerbProgram } from '../../../kernel/cli/verb.ts';
import { add } from './add.ts';
import { client } from './client.ts';
import { kill } from './kill.ts';
import { nodeStatus } from './node-status.ts';
import { pause } from './pause.ts';
import { pull } from './pull.ts';
import { run } from './run.ts';
import { server } from './server.ts';
import { serverStatus } from './server-status.ts';
import { slurm } from './slurm.ts';
import { template } from './template.ts';
import { defineLogFlags, withLog, withoutLog } from './unused.ts';

export const distribute: VerbProgram = {
  summary: 'The commands of distribute, carried out by Weft.',
  define: (command) => defineLogFlags(command, 'of server and client'),
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
