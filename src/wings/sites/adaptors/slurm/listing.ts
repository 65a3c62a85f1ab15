// A listing of Slurm as JSON, believed only when it is whole and says nothing of errors.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { failureBy, isRecord, parseJson, recordsOf, siteProblem, unreadable } from '../read.ts';

const AWAY = /unable to contact slurm controller|connection (refused|timed out)|socket timed out/i;

export const NO_SUCH_JOB = /invalid job id/i;

/** @param name of the list in it */
export function listOf(
  program: string,
  name: string,
  output: SiteOutput,
): Result<readonly Readonly<Record<string, unknown>>[], SiteProblem> {
  if (output.code !== 0) return failure(program, output);
  const document = parseJson(output.stdout);
  if (!isRecord(document)) return unreadable(program, 'its answer is no JSON document');
  const [error] = recordsOf(document.errors) ?? [];
  if (error !== undefined) {
    const words = [error.error, error.description].filter((word) => typeof word === 'string');
    return siteProblem('refused', `${program}: ${words.join(': ') || 'an error without words'}`);
  }
  const records = recordsOf(document[name]);
  return records === null ? unreadable(program, `its answer has no list '${name}'`) : ok(records);
}

/** The problem of a command that did not succeed. */
export const failure = failureBy(AWAY);
