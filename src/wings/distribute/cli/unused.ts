// Flags of the seed that have no meaning any more: said in one line, so that nobody waits for them.

import { type Command, Option } from 'commander';
import type { Context } from '../../../kernel/cli/context.ts';
import { type Call, defineVerb, type Verb } from '../../../kernel/cli/verb.ts';

/** Says which of the flags that were given do nothing, and why. */
export function tellUnused(
  context: Context,
  given: Readonly<Record<string, unknown>>,
  why: string,
): void {
  const flags = Object.entries(given).filter(([, value]) => value !== undefined);
  if (flags.length > 0) context.note(`${flags.map(([flag]) => flag).join(', ')}: ${why}`);
}

/** Where the seed's daemons logged when they were told to. */
export const LOG_FILE = './output.log';

interface LogFlags {
  readonly saveLog?: boolean;
  readonly showLogs?: boolean;
}

const NO_LOG = 'does nothing: only server and client log';

/** The seed's two flags about logs; `of` says whose. */
export function defineLogFlags(command: Command, of: string): void {
  command.option('--save-log', `log to ${LOG_FILE} (${of})`);
  command.option('--show-logs', `log to standard error, as without (${of})`);
}

/** Adds them to a daemon. */
export function withLog(verb: Verb): Verb {
  return {
    define(command) {
      verb.define(command);
      command.option('--save-log', `log to ${LOG_FILE}, not to standard error`);
      command.option('--show-logs', 'log to standard error, as without');
    },
    run: verb.run,
  };
}

/** Adds them to a verb that writes none. */
export function withoutLog(verb: Verb): Verb {
  return defineVerb<Record<string, unknown> & LogFlags>({
    define(command) {
      verb.define(command);
      command.addOption(new Option('--save-log', NO_LOG).hideHelp());
      command.addOption(new Option('--show-logs', NO_LOG).hideHelp());
    },
    async run(call: Call<Record<string, unknown> & LogFlags>) {
      const { saveLog, showLogs } = call.options;
      const given = { '--save-log': saveLog, '--show-logs': showLogs };
      tellUnused(call.context, given, 'only server and client write a log');
      return verb.run(call);
    },
  });
}
