// A request over HTTP as a command: curl reads all of it from its standard input, so that nothing
// of it stands in a command line, and the last line of its answer is the status.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteCommand, SiteOutput, SiteProblem } from '../adaptor.ts';
import { isRecord, parseJson, recordsOf, saidBy, siteProblem, unreadable } from '../read.ts';

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly body?: object;
}

/** @param program `curl`, with the options that bring its user's token */
export function commandOf(program: readonly string[], request: Request): SiteCommand {
  const { method, url, body } = request;
  const lines = [
    ...['silent', 'show-error', 'globoff'],
    ...[`request = ${quoted(method)}`, `url = ${quoted(url)}`, `write-out = "\\n%{http_code}\\n"`],
    ...(body === undefined
      ? []
      : [
          `header = "content-type: application/json"`,
          `data-raw = ${quoted(JSON.stringify(body))}`,
        ]),
  ];
  return { argv: [...program, '--config', '-'], input: `${lines.join('\n')}\n` };
}

/** Text in a file of options for curl. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/**
 * Errors that say nothing of the request (slurm_errno.h): below 2000 and from 5000 the way to
 * Slurm's daemons is broken, from 6000 the token is not taken, 7000 is the accounting's connection.
 */
function isWord(error: unknown): boolean {
  return typeof error === 'number' && error >= 2000 && (error < 5000 || error > 7000);
}

/** ESLURM_INVALID_JOB_ID. */
const NO_SUCH_JOB = 2017;

/** The answer, without its errors, of which there is none. */
export function readAnswer(
  output: SiteOutput,
): Result<Readonly<Record<string, unknown>>, SiteProblem> {
  if (output.code !== 0) return siteProblem('away', `slurmrestd: ${saidBy(output)}`);
  const [, body = '', status] = /^([\s\S]*)\n(\d{3})\n*$/.exec(output.stdout) ?? [];
  if (status === undefined) return unreadable('slurmrestd', 'its answer has no status');
  const answer = parseJson(body);
  if (!isRecord(answer)) {
    const text = `slurmrestd: status ${status}: ${body.trim()}`;
    return siteProblem(/^(401|403|429|5..)$/.test(status) ? 'away' : 'unreadable', text);
  }
  const errors = recordsOf(answer.errors);
  if (errors === null) return unreadable('slurmrestd', "its answer has no list 'errors'");
  const [error] = errors;
  if (error !== undefined) return err(problemOf(error));
  if (status !== '200') return unreadable('slurmrestd', `status ${status} and no error`);
  return ok(answer);
}

/** Some versions call the number `error_number`, some `error_code`. */
function problemOf(error: Readonly<Record<string, unknown>>): SiteProblem {
  const number = error.error_number ?? error.error_code;
  const words = [error.error, error.description].filter((word) => typeof word === 'string');
  const text = `slurmrestd: ${words.join(': ') || 'an error without words'}`;
  if (number === NO_SUCH_JOB) return { kind: 'no_such_job', text };
  return { kind: isWord(number) ? 'refused' : 'away', text };
}
