// Programs whose words are read by tables of their own: without what reads those of `weft`, which
// takes longer to load than they run.

import type { Command } from 'commander';
import { Context } from './context.ts';
import type { Invocation } from './main.ts';
import { reportFailure } from './report.ts';
import type { Verb } from './verb.ts';

/** Lines of `weft`, loaded when one is run. */
export interface Lines {
  runLine(invocation: Invocation): Promise<number>;
  commands(invocation: Invocation, word: string): Promise<Command>;
}

/** Resolves with the exit code; never rejects. */
export async function runAsTyped(
  invocation: Invocation,
  verb: Verb,
  lines: () => Promise<Lines>,
): Promise<number> {
  const context = new Context({
    ...invocation,
    options: {},
    commands: async (word) => (await lines()).commands(invocation, word),
    runLine: async (argv, terminal) => (await lines()).runLine({ ...invocation, argv, terminal }),
  });
  try {
    return await verb.run({ context, args: invocation.argv, options: {} });
  } catch (error) {
    return reportFailure(error, invocation);
  } finally {
    context.close();
  }
}
