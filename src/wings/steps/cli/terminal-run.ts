// `weft run --pty`: a command on a node with this terminal, in a job of its own that ends with it.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { Submission } from '../../../kernel/model/submission.ts';
import { withAllocation } from './allocation.ts';
import { runStep } from './run-step.ts';

export function runAtTerminal(context: Context, wish: Submission): Promise<number> {
  const { program, array, each } = wish;
  if (array !== undefined || each !== undefined) {
    throw usage('--pty gives one task a terminal; leave out --array, --each and --sweep');
  }
  if (program.kind === 'script') throw usage('--pty is for a command, not for a script');
  const argv = program.kind === 'argv' ? program.argv : ['/bin/sh', '-c', program.line];
  const { TERM: term } = context.environment;
  const name = wish.name ?? (argv[0] ?? '').split('/').at(-1) ?? 'run';
  return withAllocation(context, { ...wish, name }, ({ id }) =>
    runStep(context, {
      target: { task: id, node: null },
      argv,
      count: 1,
      perNode: false,
      directory: undefined,
      environment: term === undefined ? {} : { TERM: term },
      label: false,
      terminal: true,
    }),
  );
}
