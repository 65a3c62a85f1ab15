// The operand that most commands of the seed have: the file that describes a batch.

import type { Command } from 'commander';

const JOBS_FILE = 'distribute-jobs.yaml';

export function defineJobsFile(command: Command): void {
  command.argument('[file]', `batch file; default: ${JOBS_FILE} here`);
}

/** The file that is meant. */
export function jobsFile(given: string | undefined): string {
  return given ?? JOBS_FILE;
}
