// `weft head`: the head of a cluster of several machines, in the foreground, for a service manager.

import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Config, Flags } from '../../config/config.ts';
import { headOptions } from '../../config/head-options.ts';
import { optionsOf } from '../../config/part.ts';
import { formatAddress } from '../../config/value.ts';
import { SYSTEM_SOCKET } from '../../connect/locate.ts';
import { removeMark, writeMark } from '../../connect/process-file.ts';
import type { Context } from '../context.ts';
import { LocalPaths, STATE_NAMES } from '../daemons/local-paths.ts';
import { defineOnceOptions, type OnceOptions, onceOptions } from '../daemons/once-options.ts';
import { defineVerb } from '../verb.ts';

interface Options extends OnceOptions {
  readonly listen?: string;
  readonly logFile?: string;
  /** Keys that another program's flags say; over the environment and the file. */
  readonly settings?: Flags;
  /** Batches are shown in the state directory itself, as NAMESPACE/BATCH. */
  readonly showsResults?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--listen <address>', 'host:port for agents and users elsewhere, or none');
    command.option('--log-file <file>', 'log there, not to standard error');
    defineOnceOptions(command);
  },
  run: async ({ context, options }) =>
    (await agreesToBegin(context)) ? runHead(context, options) : 1,
});

/** Runs until a signal stops it. `onServing` is told its socket. */
export async function runHead(
  context: Context,
  options: Options,
  onServing?: (socketPath: string) => void,
): Promise<number> {
  const flags = new Map(options.settings);
  if (options.listen !== undefined) {
    flags.set('head.listen', { text: options.listen, flag: '--listen' });
  }
  const config = await context.config(flags);
  const paths = new LocalPaths(context.directory);
  paths.make('shared');
  const mark = paths.mark('head');
  const place = {
    paths,
    socketPath: socketOf(context, config, paths),
    listen: config.address('head.listen'),
    multiUser: config.flag('head.multi_user'),
    logFile: options.logFile === undefined ? null : path.resolve(context.cwd, options.logFile),
  };
  const address = place.listen === null ? 'no port' : `https://${formatAddress(place.listen)}`;
  const own = headOptions(config, place, await optionsOf(context.wings));
  // The store's lock decides who is the head: only the one that serves writes the mark.
  let isServing = false;
  try {
    await context.programs.runHead(
      { ...own, ...onceOptions(options), ...results(paths, options) },
      () => {
        isServing = true;
        writeMark(mark, process.pid);
        context.note(
          `head of ${config.text('cluster.name')} on ${address} and ${place.socketPath}`,
        );
        onServing?.(place.socketPath);
      },
    );
  } finally {
    if (isServing) removeMark(mark);
  }
  return 0;
}

function results({ directory }: LocalPaths, { showsResults }: Options) {
  if (showsResults !== true) return {};
  return { resultsIn: { folder: directory, taken: STATE_NAMES } };
}

/** A folder that is not there is a new cluster, or a slip of the finger: the user is asked. */
async function agreesToBegin(context: Context): Promise<boolean> {
  if (context.options.dir === undefined || existsSync(context.directory)) return true;
  const { ask } = context.terminal;
  if (ask === undefined) {
    context.note(`there is no cluster in ${context.directory}; a new one begins`);
    return true;
  }
  const question = `There is no cluster in ${context.directory}. Begin a new one there? [y/N] `;
  return /^y(es)?$/i.test((await ask(question)).trim());
}

/** Users of this machine need a place they can reach; one's own head stays in its directory. */
function socketOf(context: Context, config: Config, paths: LocalPaths): string {
  if (!config.flag('head.multi_user') || context.options.dir !== undefined) return paths.socket;
  const folder = path.dirname(SYSTEM_SOCKET);
  if (process.getuid?.() === 0) mkdirSync(folder, { recursive: true, mode: 0o755 });
  return isWritable(folder) ? SYSTEM_SOCKET : paths.socket;
}

// A service manager makes the folder for a head that is not root; by hand there may be none.
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
