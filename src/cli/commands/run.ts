// `weft run`: submits a command. Prints the job's id, or waits and becomes the command.

import type { Command } from 'commander';
import type { Program } from '../../core/model/job.ts';
import type { Submission } from '../../core/model/submission.ts';
import type { Context } from '../context.ts';
import { EXIT_OWN_FAILURE, Failure, usage } from '../failure.ts';
import { attend } from '../jobs/attend.ts';
import { sendSubmission, submitterHere } from '../jobs/send.ts';
import { printable } from '../output/table.ts';
import { defineSubmitOptions, makeSubmission, type SubmitOptions } from '../submit/options.ts';
import { read } from '../submit/read.ts';
import { parseKey } from '../submit/values.ts';
import { defineVerb } from '../verb.ts';

export interface AttendOptions {
  readonly wait?: boolean;
  readonly follow?: boolean;
  readonly key?: string;
  readonly dryRun?: boolean;
}

export const verb = defineVerb<SubmitOptions & AttendOptions>({
  define(command) {
    command.usage('[options] [--] <command> [arguments...]');
    command.argument('<command...>', 'a program with its arguments, or one quoted shell line');
    defineAttendOptions(command, 'command');
    defineSubmitOptions(command);
    command.passThroughOptions();
  },
  async run({ context, args, options }) {
    const submission = makeSubmission(programOf(args), options, submitterHere(context));
    return submitAndAttend(context, submission, options);
  },
});

/** One word with blanks is a line for the shell; everything else is run as it is. */
export function programOf(words: readonly string[]): Program {
  const [first = ''] = words;
  if (first.trim() === '') throw usage('there is no command to run');
  if (words.length === 1 && /\s/.test(first)) return { kind: 'shell', line: first };
  return { kind: 'argv', argv: words };
}

/** `what` is run: it names whose exit code becomes ours. */
export function defineAttendOptions(command: Command, what: 'command' | 'script'): void {
  command.option('-w, --wait', `wait for the end and exit with the ${what}'s exit code`);
  command.option('-f, --follow', 'show its output meanwhile; also waits');
  command.option('--dry-run', 'submit nothing: say when and where it would start, or why not');
  command.option('--key <text>', 'the same key gives the same job, however often it is sent');
}

/** Submits, prints the id or stays, and resolves with the exit code. */
export async function submitAndAttend(
  context: Context,
  submission: Submission,
  { wait = false, follow = false, key, dryRun = false }: AttendOptions,
): Promise<number> {
  if (dryRun) return rehearse(context, submission);
  if (follow && submission.array !== undefined) {
    throw usage('--follow shows one task; for an array use --wait, and `weft logs -f 42[7]`');
  }
  read('--key', key, parseKey);
  const stay = wait || follow;
  try {
    const { jobId } = await sendSubmission(context, submission, key);
    const id = String(jobId);
    if (!stay) {
      context.print(id);
      return 0;
    }
    const { nodeCount = 1, processesPerNode = 1 } = submission;
    return await attend(context, { id, follow, nodeCount, processesPerNode });
  } catch (error) {
    if (!stay || !(error instanceof Failure)) throw error;
    context.note(error.hint === null ? error.message : `${error.message}\n  ${error.hint}`);
    return EXIT_OWN_FAILURE;
  }
}

/** Every check of a submission, and what it could expect. */
async function rehearse(context: Context, submission: Submission): Promise<number> {
  const api = await context.api();
  const { words } = await api.call('rehearseJob', { body: submission as never });
  context.print(words.split('\n').map(printable).join('\n'));
  return 0;
}
