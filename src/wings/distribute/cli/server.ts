// `distribute server`: the head, in the foreground, with what the seed's flags say about it.

import path from 'node:path';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import { runHead } from '../../../kernel/cli/commands/head.ts';
import { Context } from '../../../kernel/cli/context.ts';
import { LocalPaths } from '../../../kernel/cli/daemons/local-paths.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { Flags } from '../../../kernel/config/config.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { SeedNode } from '../../batches/batch/read/read-nodes.ts';
import { parts, readPort, SEED_PORT } from './head-flags.ts';
import { matrixFlags } from './matrix-config.ts';
import { NODES_FILE_FLAGS, NODES_FILE_TEXT, nodesOf } from './nodes-file.ts';
import { LOG_FILE, tellUnused } from './unused.ts';

interface Options {
  readonly nodesFile?: string;
  readonly savePath?: string;
  readonly tempDir?: string;
  readonly port?: string;
  readonly names?: string;
  readonly cleanOutput?: boolean;
  readonly matrixConfig?: string;
  readonly saveLog?: boolean;
}

export const server = defineVerb<Options>({
  define(command) {
    command.option(NODES_FILE_FLAGS, NODES_FILE_TEXT);
    command.option('--save-path <folder>', 'state directory of the head: queue, files, results');
    command.option('--temp-dir <folder>', 'does nothing: files are kept in the state directory');
    command.option(
      '-p, --port <port>',
      `where it listens (default: head.listen where it is set, else ${SEED_PORT})`,
    );
    command.option(
      '--names <names>',
      'names and addresses of this machine, separated by commas (default: head.names)',
    );
    command.option('-c, --clean-output', 'does nothing: `weft batch remove` removes one batch');
    command.option(
      '-m, --matrix-config <file>',
      'JSON file with the Matrix account that sends notifications',
    );
  },
  async run({ context, options }) {
    const nodes = await nodesOf(context, options.nodesFile);
    tellOld(context, options);
    const head = atSavePath(context, options.savePath);
    const logFile = options.saveLog ? { logFile: LOG_FILE } : {};
    const listen = await listenOf(head, options.port);
    const { names } = options;
    const settings = new Map([
      ...(await settingsOf(head, options.matrixConfig)),
      ...(names ? [['head.names', { text: names, flag: '--names' }] as const] : []),
    ]);
    const showsResults = options.savePath !== undefined;
    return runHead(head, { ...listen, ...logFile, settings, showsResults }, (socketPath) => {
      void tellNodes(head, nodes, socketPath).catch((error: unknown) => {
        context.note(`the nodes file: ${error instanceof Error ? error.message : String(error)}`);
      });
    });
  },
});

function tellOld(context: Context, { tempDir, cleanOutput }: Options): void {
  tellUnused(context, { '--temp-dir': tempDir }, 'not needed; files are in the state directory');
  const why = 'results stay; `weft batch remove NAMESPACE/BATCH` removes those of one batch';
  tellUnused(context, { '--clean-output': cleanOutput }, why);
}

/** By the variable, not as `--dir` does: a head for all users has its socket where these look. */
function atSavePath(context: Context, savePath: string | undefined): Context {
  if (savePath === undefined) return context;
  if (context.options.dir !== undefined) {
    throw usage('--save-path and --dir are the same thing; write one');
  }
  const directory = path.resolve(context.cwd, savePath);
  const environment = { ...context.environment, WEFT_DIR: directory };
  return new Context({ ...parts(context), environment, options: context.options });
}

async function settingsOf(context: Context, matrixConfig: string | undefined): Promise<Flags> {
  if (matrixConfig === undefined) return new Map();
  const paths = new LocalPaths(context.directory);
  paths.make('shared');
  return matrixFlags(path.resolve(context.cwd, matrixConfig), paths.head);
}

/** Every address of the machine, as the seed did, unless the configuration says otherwise. */
async function listenOf(context: Context, port: string | undefined): Promise<{ listen?: string }> {
  if (port !== undefined) return { listen: `0.0.0.0:${readPort('--port', port)}` };
  const isGiven = (await context.config()).isGiven('head.listen');
  return isGiven ? {} : { listen: `0.0.0.0:${SEED_PORT}` };
}

/** Gives nodes the capabilities of the file, and says how those join that have not. */
async function tellNodes(
  context: Context,
  listed: readonly SeedNode[],
  socketPath: string,
): Promise<void> {
  if (listed.length === 0) return;
  const environment = { ...context.environment, WEFT_HEAD: undefined, WEFT_SOCKET: socketPath };
  const itself = new Context({ ...parts(context), environment, options: {} });
  try {
    const api = await itself.api();
    const { nodes } = await api.call('listNodes');
    const known = new Map(nodes.map((node) => [node.name, node]));
    const missing: SeedNode[] = [];
    for (const one of listed) {
      const node = known.get(one.name);
      if (node === undefined) missing.push(one);
      const add = node === undefined ? [] : lacking(one, node);
      if (add.length === 0) continue;
      await api.call('labelNode', { params: { name: one.name }, body: { add } });
      context.note(`node ${one.name} is labelled ${add.join(', ')}`);
    }
    for (const one of missing) context.note(joinLine(one));
    if (missing.length > 0)
      context.note('set WEFT_JOIN there to what `weft token join` prints here');
  } finally {
    itself.close();
  }
}

function lacking({ labels }: SeedNode, node: NodeView): string[] {
  return labels.filter((label) => !node.labels.includes(label));
}

function joinLine({ name, host, labels }: SeedNode): string {
  const flags = labels.map((label) => ` --label ${quoteWord(label)}`).join('');
  const command = `distribute client BASE_FOLDER --name ${quoteWord(name)}${flags}`;
  return `${name} has not joined. On ${host}: ${command}`;
}
