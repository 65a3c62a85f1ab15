// `weft node reenroll`: makes this machine a node of its own, where its folder is a copy of
// another's.

import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { readLiveMark } from '../../connect/process-file.ts';
import { Failure, usage } from '../../model/failure.ts';
import { LocalPaths, readJson } from '../daemons/local-paths.ts';
import { defineVerb } from '../verb.ts';
import { joinCluster, type Membership, startWords, TOKEN_WORDS } from './join.ts';

interface Options {
  readonly name?: string;
  readonly label?: string[];
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('[token]', TOKEN_WORDS);
    command.option('--name <name>', 'its new name (default: the host name)');
    command.option('--label <labels...>', 'labels of this node');
  },
  async run({ context, args: [word], options }) {
    const paths = new LocalPaths(context.directory);
    const old = readJson<Membership>(paths.membership);
    if (old === null) {
      throw usage(
        `this machine has not joined a cluster (no ${paths.membership})`,
        'Join it with `weft join`.',
      );
    }
    await refuseWhileInUse(paths, old.name);
    const folder = paths.node(old.name);
    const identity = await context.programs.machineIdentity(existsSync(folder) ? folder : null);
    const copyOf = { node: old.name, ...identity };
    const joined = await joinCluster(context, word, { ...options, copyOf });
    context.print(`This machine is node ${joined.name} of ${joined.clusterName} from now on.`);
    context.print(await startWords(context));
    if (existsSync(folder)) {
      context.print(`What ${folder} has of ${old.name} is not used any more; you may remove it.`);
    }
    return 0;
  },
});

/** What runs here under the old name would have no agent any more. */
async function refuseWhileInUse(paths: LocalPaths, name: string): Promise<void> {
  const agent = readLiveMark(paths.mark(name));
  if (agent !== null) {
    const hint = 'Stop it first: `systemctl stop weft-agent`, or end that process.';
    throw usage(`the agent of ${name} runs here, as process ${agent.pid}`, hint);
  }
  if (!(await answers(path.join(paths.node(name), 'launcher.sock')))) return;
  throw new Failure({
    kind: 'failed_precondition',
    code: 'node.busy',
    message: `Tasks of ${name} run on this machine, or ended less than a minute ago.`,
    hint: `Wait for them, or cancel them with \`weft cancel\`; \`weft node show ${name}\` lists them.`,
  });
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
