// `distribute client`: the agent of a node, in the foreground, with its state in the base folder.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { runAgent } from '../../../kernel/cli/commands/agent.ts';
import { joinCluster } from '../../../kernel/cli/commands/join.ts';
import { Context } from '../../../kernel/cli/context.ts';
import { LocalPaths } from '../../../kernel/cli/daemons/local-paths.ts';
import { collect } from '../../../kernel/cli/submit/read.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parts } from './head-flags.ts';
import { LOG_FILE, tellUnused } from './unused.ts';

interface Options {
  readonly transportPort?: string;
  readonly keepalivePort?: string;
  readonly cancelPort?: string;
  readonly logFile?: string;
  readonly saveLog?: boolean;
  readonly name?: string;
  readonly label?: string[];
}

const NO_PORT = 'does nothing: an agent listens on no port';

export const client = defineVerb<Options>({
  define(command) {
    command.argument('<base_folder>', 'state directory of the node; what is in it stays');
    command.option('-p, --transport-port <port>', NO_PORT);
    command.option('-k, --keepalive-port <port>', NO_PORT);
    command.option('-c, --cancel-port <port>', NO_PORT);
    command.option('-l, --log-file <file>', `log there (with --save-log: ${LOG_FILE})`);
    command.option('--name <name>', 'name of the node when it joins (default: the host name)');
    command.option('--label <label>', 'a capability of the node when it joins', collect);
  },
  async run({ context, args: [folder = ''], options }) {
    if (context.options.dir !== undefined) {
      throw usage('BASE_FOLDER and --dir are the same thing; write one');
    }
    const { transportPort, keepalivePort, cancelPort, saveLog } = options;
    const ports = {
      '--transport-port': transportPort,
      '--keepalive-port': keepalivePort,
      '--cancel-port': cancelPort,
    };
    tellUnused(context, ports, 'not needed; an agent listens on no port, it connects to its head');
    const dir = path.resolve(context.cwd, folder);
    const node = new Context({ ...parts(context), options: { ...context.options, dir } });
    await joinOnce(node, options);
    const logFile = options.logFile ?? (saveLog ? LOG_FILE : undefined);
    return runAgent(node, logFile === undefined ? {} : { logFile });
  },
});

/** The seed let the head connect to whatever listened; here a machine proves that it may join. */
async function joinOnce(context: Context, { name, label }: Options): Promise<void> {
  const { membership } = new LocalPaths(context.directory);
  const token = context.environment['WEFT_JOIN'];
  if (existsSync(membership)) return;
  if (!token) {
    const hint =
      'On the head: weft token join. Here: set WEFT_JOIN to what it prints, and start this again.';
    throw usage(`this machine has not joined a cluster (no ${membership})`, hint);
  }
  const joined = await joinCluster(context, token, {
    ...(name === undefined ? {} : { name }),
    ...(label === undefined ? {} : { label }),
  });
  context.note(`node ${joined.name} is a member of ${joined.clusterName}`);
}
