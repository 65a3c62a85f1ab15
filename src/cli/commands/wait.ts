// `weft wait`: until jobs are done; exits with the job's own exit code.

import { parseDuration } from '../../core/base/duration.ts';
import type { Context } from '../context.ts';
import { EXIT_OWN_FAILURE, Failure, usage } from '../failure.ts';
import { readPlace } from '../ids.ts';
import { exitCodeOf, outcomeWords } from '../jobs/outcome.ts';
import { waitFor } from '../jobs/wait-for.ts';
import { defineVerb } from '../verb.ts';

interface Options {
  readonly timeout?: string;
  readonly started?: boolean;
  readonly quiet?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job...>', 'job ids: 42, or 42[7] for one task of an array');
    command.option('--timeout <duration>', 'give up after this long (exit code 8)');
    command.option('--started', 'until it has started, not until it is done');
    command.option('-q, --quiet', 'say nothing');
  },
  async run({ context, args, options }) {
    for (const id of args) readPlace(id);
    const timeoutMs = readTimeout(options.timeout);
    const codes = await Promise.all(
      args.map((id) => waitForOne(context, { id, timeoutMs, options })),
    );
    return codes.find((code) => code !== 0) ?? 0;
  },
});

async function waitForOne(
  context: Context,
  { id, timeoutMs, options }: { id: string; timeoutMs: number | null; options: Options },
): Promise<number> {
  try {
    const until = options.started ? 'started' : 'done';
    const { job, task } = await waitFor(context, { id, timeoutMs, until });
    const view = task ?? job;
    const ended = view.state === 'done';
    if (!options.quiet) context.print(`${id} ${ended ? outcomeWords(view) : view.state}`);
    return ended || !options.started ? exitCodeOf(view) : 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(`${id}: ${error.message}${error.hint === null ? '' : `\n  ${error.hint}`}`);
    // Not the job's code: 8 says that it goes on, 125 that we do not know.
    return error.code === 'wait.timeout' ? error.exitCode : EXIT_OWN_FAILURE;
  }
}

function readTimeout(text: string | undefined): number | null {
  if (text === undefined) return null;
  const duration = parseDuration(text);
  if (!duration.ok) throw usage(`--timeout: ${duration.error}`);
  return duration.value;
}
