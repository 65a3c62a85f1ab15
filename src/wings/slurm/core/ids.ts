// Ids as Slurm writes them: `42`, `42_7`, `42_[0-3]`.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

const ID = /^(\d{1,15})(?:_(\d{1,9}|\[[\d,:%-]+\]))?$/;

/** Our ids of what this means: `42`, `42[7]`, or several of an array. */
export function readId(text: string): Result<string, string> {
  const [, job = '', index] = ID.exec(text) ?? [];
  if (text.includes('.')) return err(`Invalid job id ${text}: steps have no numbers here`);
  if (job === '') return err(`Invalid job id ${text}`);
  if (index === undefined) return ok(job);
  return ok(`${job}[${index.replace(/^\[|\]$|%.*/g, '').replace(/\]$/, '')}]`);
}

/** `42_7` for our `42[7]`. */
export function slurmId(id: string): string {
  return id.replace(/\[(.*)\]$/, '_$1');
}
