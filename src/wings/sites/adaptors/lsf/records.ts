// What LSF prints with `-o FIELDS -json`: a count, and as many records of texts.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { isRecord, parseJson, recordsOf, unreadable } from '../read.ts';
import { failure } from './failure.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** @param count the name of the count, as in `JOBS` */
export function recordsIn(
  program: string,
  count: string,
  output: SiteOutput,
): Result<readonly Fields[], SiteProblem> {
  if (output.code !== 0) return failure(program, output);
  const document = parseJson(output.stdout);
  const records = isRecord(document) ? recordsOf(document.RECORDS) : null;
  if (!isRecord(document) || records === null || document.COMMAND !== program) {
    return unreadable(program, 'its answer is no JSON document of records');
  }
  if (String(document[count]) !== String(records.length)) {
    return unreadable(program, `it has ${records.length} records and says otherwise`);
  }
  return ok(records);
}

/** A text that may be empty; null: there is none, or a dash in its place. */
export function fieldOf(fields: Fields, name: string): string | null {
  const value = fields[name];
  if (typeof value !== 'string' || value === '' || value === '-') return null;
  return value;
}

/** Digits only. */
export function countOf(fields: Fields, name: string): number | null {
  const text = fieldOf(fields, name);
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/**
 * `Oct  1 14:01:44 2026`, with ` L` or ` E` behind it where it is a limit or an estimate. The year
 * is there as LSB_DISPLAY_YEAR asks for it; the zone is that of the command, TZ=UTC.
 */
export function instantOf(text: string | null): number | null {
  const found = /^(\w{3} +\d{1,2} \d\d:\d\d:\d\d \d{4})(?: [A-Z])?$/.exec(text ?? '')?.[1];
  const at = found === undefined ? Number.NaN : Date.parse(`${found} UTC`);
  return Number.isNaN(at) ? null : at;
}
