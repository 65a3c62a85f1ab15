// Checks a value against its schema; what is wrong is said with its path and what was expected.

import type { z } from 'zod';
import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';

type Issue = z.core.$ZodIssue;

/** At most this many problems are named: the rest is seen after mending these. */
const SHOWN_MAX = 5;
/** Characters of a name that is a sender's own choice. */
const NAME_SHOWN_MAX = 100;

/** `where`: `body`, `query` or `path`. */
export function validate(
  schema: z.ZodType | undefined,
  value: unknown,
  where: string,
): Result<unknown, Refusal> {
  if (schema === undefined) return ok(undefined);
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  return err(refuse('argument.invalid', { what: describeIssues(parsed.error.issues, where) }));
}

/** Like `validate`, for one entry of many: the entry is named once, before all that is wrong. */
export function validateEntry(
  schema: z.ZodType,
  value: unknown,
  entry: string,
): Result<unknown, Refusal> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const what = `${entry}: ${describeIssues(parsed.error.issues, '')}`;
  return err(refuse('argument.invalid', { what }));
}

/** `program.argv[0]: expected string, got 5`. */
export function describeIssues(issues: readonly Issue[], where: string): string {
  const lines = issues.slice(0, SHOWN_MAX).map((issue) => describe(issue, where));
  if (issues.length > SHOWN_MAX) lines.push(`and ${issues.length - SHOWN_MAX} more`);
  return lines.join('; ');
}

function describe(issue: Issue, where: string): string {
  const path = formatPath(issue.path) || where;
  const words = issueTextOf(issue);
  return path === '' ? words : `${path}: ${words}`;
}

function issueTextOf(issue: Issue): string {
  if (issue.code === 'unrecognized_keys') {
    return `unknown ${issue.keys.length > 1 ? 'fields' : 'field'} ${someOf(issue.keys)}`;
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const tried = issue.errors.map((errors) => errors[0]?.message ?? '').join(' or ');
    return tidy(tried);
  }
  return tidy(issue.message);
}

/** The first few: a body may have any number of them, and of any length. */
function someOf(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_MAX).map(clip);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function clip(name: string): string {
  return name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}…` : name;
}

/** The library's words, without its preface and its signs. */
function tidy(message: string): string {
  return message
    .replace(/^Invalid (?:input|discriminator value|option)[:.] (E|e)/, 'e')
    .replace(/^Too (?:big|small): expected \w+ to (?:be|have) [<>]=?/, (words) =>
      words.startsWith('Too big') ? 'expected at most ' : 'expected at least ',
    )
    .replace(/^expected at least 1 characters$/, 'may not be empty');
}

function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? clip(String(part)) : `.${clip(String(part))}`;
  }
  return text;
}
