// What the file system refuses, a full disk above all, is no bug of ours.

import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure } from '../../../kernel/model/failure.ts';

/** An error of the system as a failure about the folder that was written to; any other as it is. */
export function asWriteFailure(error: unknown, folder: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  return failure(refuse('batch.not_archived', { folder, what: fileProblem(error) }));
}
