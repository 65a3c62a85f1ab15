// `weft wait`: until jobs are done; exits with the job's own exit code.

import { parseDuration } from '../../base/duration.ts';
import { EXIT_OWN_FAILURE, Failure, usage } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { exitCodeOf, outcomeWords } from '../jobs/outcome.ts';
import { defineSelection, type SelectOptions, selectJobs } from '../jobs/select.ts';
import { waitFor } from '../jobs/wait-for.ts';
import { jobProgress } from '../progress/tasks.ts';
import { defineVerb } from '../verb.ts';

interface Options extends SelectOptions {
  readonly timeout?: string;
  readonly started?: boolean;
  readonly quiet?: boolean;
}

/** Waiting for the last of all takes as long however many are asked about at a time. */
const AT_ONCE = 32;

export const verb = defineVerb<Options>({
  define(command) {
    defineSelection(command);
    command.option('--timeout <duration>', 'stop waiting after this long (exit code 8)');
    command.option('--started', 'wait until they have started, not until they are done');
    command.option('-q, --quiet', 'say nothing');
    command.addHelpText('after', EXIT_RULE);
  },
  async run({ context, args, options }) {
    const timeoutMs = readTimeout(options.timeout);
    const since = performance.now();
    // What options choose is what goes on now; what has a number may be over.
    const among = { state: args.length === 0 ? 'active' : 'all' } as const;
    const ids = (await selectJobs(context, args, options, among)).map(({ id }) => id);
    const codes: number[] = [];
    const isShown = !options.quiet && !options.started;
    const progress = jobProgress(context, isShown ? ids : []);
    try {
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const some = ids.slice(at, at + AT_ONCE);
        const how = { timeoutMs, since, options };
        const ends = some.map(async (id) => {
          const code = await waitForOne(context, { id, ...how });
          progress.ended(code === 0);
          return code;
        });
        codes.push(...(await Promise.all(ends)));
      }
    } finally {
      progress.stop();
    }
    return codes.find((code) => code !== 0) ?? 0;
  },
});

const EXIT_RULE =
  '\nThe exit code is 0 when every job completed. Else it is that of the first job, in the order' +
  '\nof the command line, that did not: its own exit code, 124 for its time limit, 143 when it was' +
  '\ncancelled, 123 when its node failed it; 8 when --timeout ended first, 125 when the head' +
  '\ncannot say. While the head is away it waits on.';

interface Waited {
  readonly id: string;
  readonly timeoutMs: number | null;
  readonly since: number;
  readonly options: Options;
}

async function waitForOne(
  context: Context,
  { id, timeoutMs, since, options }: Waited,
): Promise<number> {
  try {
    const until = options.started ? 'started' : 'done';
    const { job, task } = await waitFor(context, { id, timeoutMs, since, until });
    const view = task ?? job;
    const ended = view.state === 'done';
    if (!options.quiet) context.print(`${id} ${ended ? outcomeWords(view, job) : view.state}`);
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
