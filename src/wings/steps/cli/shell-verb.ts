// `weft shell`: the user's shell inside of a running task, with a terminal.

import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { defineLinger, readLinger } from './linger.ts';
import { runStep } from './run-step.ts';
import { readTarget } from './target.ts';

/** The agent says which: that of the account on the node. */
const SHELL = 'exec "$SHELL" -i';

export const verb = defineVerb<{ readonly chdir?: string; readonly linger?: string }>({
  define(command) {
    command.argument('[job]', 'job or task, perhaps with a node: 42, 42[7], 42/n2');
    defineLinger(command);
    command.option('--chdir <dir>', 'begin there in place of where the task runs');
  },
  async run({ context, args, options: { chdir, linger } }) {
    const { target, rest } = readTarget(context, args);
    if (rest.length > 0) throw usage(`'${rest[0]}' is too much; a command goes with weft exec`);
    const isTerminal = context.terminal.raw !== undefined && context.terminal.outIsTerminal;
    if (!isTerminal || context.terminal.input?.kind !== 'terminal') {
      throw usage('weft shell needs a terminal', `Write: weft exec ${target.task} -- COMMAND`);
    }
    const term = context.environment['TERM'];
    return runStep(context, {
      target,
      argv: ['/bin/sh', '-c', SHELL],
      count: 1,
      perNode: false,
      directory: chdir,
      environment: term === undefined ? {} : { TERM: term },
      label: false,
      terminal: true,
      lingerMs: readLinger(linger),
    });
  },
});
