// Whether standard input goes to a job: decided before it is submitted, and said when it does not.

import { usage } from '../../model/failure.ts';
import { CLIENT_STDIN } from '../../model/job.ts';
import type { Submission } from '../../model/submission.ts';
import type { Context } from '../context.ts';
import type { Input } from './input.ts';

export interface Chosen {
  readonly submission: Submission;
  /** What is sent to the job; null when nothing is. */
  readonly input: Input | null;
}

const HOW = 'use --stdin FILE for a file that its nodes can read, or --stdin /dev/null for nothing';

export interface InputUse {
  /** This command waits for the job, and can feed it. */
  readonly stays: boolean;
  /** Something else was read from it: the script, or a list. */
  readonly isTaken: boolean;
}

/** Throws a usage failure when input is there that the job cannot have. */
export function chooseInput(
  context: Context,
  submission: Submission,
  { stays, isTaken }: InputUse,
): Chosen {
  const input = isTaken ? null : (context.terminal.input ?? null);
  const { files = {} } = submission;
  if (files.stdin === CLIENT_STDIN) {
    if (!stays) throw usage('--stdin - needs --follow or --wait: input is sent while the job runs');
    if (input === null || input.kind === 'nothing')
      return { submission: withoutInput(submission), input: null };
    return { submission, input };
  }
  const isMeant = input?.kind === 'pipe' || input?.kind === 'file';
  if (!isMeant || input === null || files.stdin !== undefined) return { submission, input: null };
  if (!stays || !hasOneReader(submission)) {
    if (!stays && input.isReady()) {
      context.note(`standard input is not passed to the job without --follow or --wait; ${HOW}`);
    } else if (stays && input.hasBytes()) {
      throw usage(`standard input goes to one process, and this job has more; ${HOW}`);
    }
    return { submission, input: null };
  }
  return { submission: { ...submission, files: { ...files, stdin: CLIENT_STDIN } }, input };
}

function hasOneReader({ array, nodeCount = 1, processesPerNode = 1, nodeNames }: Submission) {
  return array === undefined && nodeCount * processesPerNode === 1 && (nodeNames?.length ?? 0) < 2;
}

function withoutInput({ files = {}, ...rest }: Submission): Submission {
  const { stdin: _, ...others } = files;
  return { ...rest, files: others };
}
