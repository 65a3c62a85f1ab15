// Options of listings: which rows, by words that are known, and how many.

import { type Command, Option } from 'commander';
import { didYouMean } from '../../base/nearest-word.ts';
import { usage } from '../../model/failure.ts';

/** A list that ends at its limit must not pass for the whole. `what`: in the singular. */
export function cutWords(count: number, what: string): string {
  return `only ${count} ${count === 1 ? what : `${what}s`} shown; raise --limit`;
}

/** One of the known words, or nothing when none was given. */
export function choice(flag: string, word: string | undefined, known: readonly string[]) {
  if (word === undefined || known.includes(word)) return word;
  throw usage(`${flag}: '${word}' is unknown.${didYouMean(word, known)}`, known.join(', '));
}

/** Refuses an empty name, as of a variable that is not set: an empty list would pass for true. */
export function nameIn(flag: string, text: string | undefined): string | undefined {
  if (text === '') throw usage(`${flag}: may not be empty`);
  return text;
}

/**
 * `--failed`, a short word for every outcome that is a failure. `what`: of which rows; `instead`:
 * the options that say it, too.
 */
export function defineFailed(command: Command, what: string, ...instead: string[]): void {
  command.addOption(new Option('--failed', what).conflicts(instead));
}

/** A count of rows from 1. */
export function readLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage(`--limit: '${text}' is not a count from 1`);
}
