// What whoever submits a job should know at once: where it runs, and where its output goes.

import path from 'node:path';
import type { SubmitReply } from '../../api/submission.ts';
import { Failure } from '../../model/failure.ts';
import { filesThatStay, separateFiles } from '../../model/output-patterns.ts';
import type { Submission } from '../../model/submission.ts';
import type { Context } from '../context.ts';

export interface Submitted {
  readonly submission: Submission;
  readonly reply: SubmitReply;
  /** The job's output is about to be shown. */
  readonly follow: boolean;
  /** The command stays until the job's end, and then says whether the job left files. */
  readonly stays: boolean;
}

const STREAMS = { stdout: 'standard output', stderr: 'standard error' } as const;
type Stream = keyof typeof STREAMS;

/** Notes on standard error; none when all is as it looks. */
export function tellSubmitted(context: Context, of: Submitted): void {
  // Whoever sends a key again has been told.
  if (of.reply.again) return;
  for (const words of [...directoryWords(of), ...outputWords(of)]) context.note(words);
}

/** At the end of a job that somebody has stayed with: nothing when it left nothing. */
export async function tellKept(context: Context, of: Submitted): Promise<void> {
  const { stays, submission, reply } = of;
  const isPrivate = reply.directory === null && submission.directory?.kind !== 'auto';
  if (!stays || reply.again || !isPrivate || submission.staging?.outputs?.length === 0) return;
  if (await hasLeft(context, reply.jobId)) context.note(keptWords(reply.jobId));
}

/** True, too, when nobody can say: the words hold all the same. */
async function hasLeft(context: Context, jobId: number): Promise<boolean> {
  try {
    const job = await (await context.api()).call('getJob', { params: { id: String(jobId) } });
    return job.outputs !== null;
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}

function keptWords(jobId: number): string {
  return `output files are kept on the head: weft pull ${jobId}`;
}

function directoryWords({ submission, reply, stays }: Submitted): string[] {
  if (reply.directory !== null) return [];
  const { directory, files = {}, staging } = submission;
  const id = reply.jobId;
  const isKept = staging?.outputs?.length !== 0;
  const where = keptWords(id);
  if (directory?.kind !== 'auto') return isKept && !stays ? [where] : [];
  const fate = isKept ? where : 'files that it writes there are removed when it ends';
  const words = `job ${id} runs in an empty directory on its node, because no node shares ${directory.path}; ${fate}`;
  const moved = streamsOf(files).filter((stream) => !isAbsolute(files[stream]));
  if (moved.length === 0) return [words];
  const what = moved.map((stream) => STREAMS[stream]).join(' and ');
  const names = moved.map((stream) => files[stream]).join(' and ');
  return [words, `its ${what} does not go to ${names} but to the head: weft logs ${id}`];
}

function outputWords({ submission, reply, follow }: Submitted): string[] {
  const { array } = submission;
  const files = filesOf(submission, reply);
  const actual = array === undefined ? files : separateFiles(files);
  return streamsOf(files).flatMap((stream) => {
    const pattern = actual[stream] as string;
    const file = reply.directory === null ? pattern : path.resolve(reply.directory, pattern);
    if (follow) return [`${STREAMS[stream]} goes to ${file}; it is not shown here`];
    return pattern === files[stream] ? [] : [`each task writes a file of its own: ${file}`];
  });
}

function streamsOf(files: NonNullable<Submission['files']>): Stream[] {
  return (['stdout', 'stderr'] as const).filter((stream) => files[stream] !== undefined);
}

function isAbsolute(pattern: string | undefined): boolean {
  return pattern?.startsWith('/') === true;
}

/** Those of its files that the job has: a directory that goes has none. */
export function filesOf(
  { files = {}, directory }: Submission,
  reply: SubmitReply,
): NonNullable<Submission['files']> {
  const isMoved = reply.directory === null && directory?.kind === 'auto';
  return isMoved ? filesThatStay(files) : files;
}
