// The numbers of the seed's flags: plain integers in units of its own, where 0 means 0.

import { read } from '../../../kernel/cli/submit/read.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parseCount } from '../../../kernel/model/submission-values.ts';

/** Far beyond what the head takes, which says so by itself. */
const NUMBER_MAX = 999_999_999;

/** A whole number; undefined when the flag was not given, so that the head's default holds. */
export function seedNumber(flag: string, text: string | undefined, from = 0): number | undefined {
  return read(flag, text, (value) => parseCount(value, from, NUMBER_MAX));
}

/** The seed's megabyte, 1024 × 1024 bytes, as its memory figures are counted. */
export const MEGABYTE = 1_048_576;
const HOUR_MS = 3_600_000;

/** Whole hours; anything below 1, negative or a fraction, means no limit, as it always did. */
export function seedHours(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d{1,9}(\.\d{1,9})?$/.test(text)) {
    throw usage(`--time-limit: '${text}' is not a number of hours`);
  }
  const hours = Number(text);
  if (hours < 1) return null;
  if (!Number.isInteger(hours)) {
    const hint = 'For minutes: weft run --time 90m.';
    throw usage(`--time-limit: ${text} is not a whole number of hours`, hint);
  }
  return hours * HOUR_MS;
}
