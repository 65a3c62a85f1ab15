// Which files a job is brought and which of its own are kept, as far as a submission says it.

import { parseGlob } from '../../files/glob.ts';
import { BLOB_HASH } from '../../model/blob.ts';
import type { JobSpec, WorkDirectory } from '../../model/job.ts';
import { OUTPUT_PATTERNS_MAX } from '../../model/limits.ts';
import type { Submission } from '../../model/submission.ts';
import { wrong } from './wrong.ts';

/** Whether the list of files is there, and whose, is looked at before (head/files). */
export function completeStaging(
  { staging }: Submission,
  directory: WorkDirectory,
): Pick<JobSpec, 'staging'> {
  const { inputs, outputs } = staging ?? {};
  if (directory.kind === 'shared' || (inputs === undefined && outputs === undefined)) return {};
  if (inputs !== undefined && !BLOB_HASH.test(inputs)) wrong(`'${inputs}' is not a SHA-256`);
  return {
    staging: {
      ...(inputs === undefined ? {} : { inputs }),
      ...(outputs === undefined ? {} : { outputs: checkPatterns(outputs) }),
    },
  };
}

function checkPatterns(patterns: readonly string[]): readonly string[] {
  if (patterns.length > OUTPUT_PATTERNS_MAX) {
    wrong(`${patterns.length} output patterns are too many; ${OUTPUT_PATTERNS_MAX} at most`);
  }
  for (const pattern of patterns) {
    const read = parseGlob(pattern);
    if (!read.ok) wrong(`outputs: ${read.error}`);
  }
  return patterns;
}
