// Reading values of options: what cannot be read is a usage failure that names its option.

import { parseDuration } from '../../base/duration.ts';
import type { Result } from '../../base/result.ts';
import { usage } from '../../model/failure.ts';
import { parseInstant } from './instant.ts';

/** Undefined stays so; throws a usage failure with the option and what is wrong. */
export function read<T>(flag: string, text: string, parse: (text: string) => Result<T, string>): T;
export function read<T>(
  flag: string,
  text: string | undefined,
  parse: (text: string) => Result<T, string>,
): T | undefined;
export function read<T>(
  flag: string,
  text: string | undefined,
  parse: (text: string) => Result<T, string>,
): T | undefined {
  if (text === undefined) return undefined;
  const parsed = parse(text);
  if (!parsed.ok) throw usage(`${flag}: ${parsed.error}`);
  return parsed.value;
}

export function readAll<T>(
  flag: string,
  texts: readonly string[] | undefined,
  parse: (text: string) => Result<T, string>,
): T[] | undefined {
  return texts?.map((text) => read(flag, text, parse));
}

/** The values of an option that may be given more than once, as commander reads them. */
export function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Empty text is nobody: how the last of them is taken out. */
export function listed(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** More than nothing: for how long something is to last. */
export function readLength(flag: string, text: string): number {
  const lasts = read(flag, text, parseDuration);
  if (lasts === 0) throw usage(`${flag}: the duration must be at least 1s`);
  return lasts;
}

export function readInstant(flag: string, text: string, now: number): number {
  return read(flag, text, (value) => parseInstant(value, now));
}

/** What `readWindow` takes, in the words of a command's help. */
export const WINDOW_FORMS = 'FROM..UNTIL, UNTIL or 12h';

/** Two instants, the end alone, or how long from now. */
export function readWindow(
  flag: string,
  text: string,
  now: number,
): { readonly notBefore: number; readonly until: number } {
  const [first = '', last, ...more] = text.split('..');
  if (more.length > 0 || first === '' || last === '') {
    throw usage(`${flag}: '${text}' is not a window; write ${WINDOW_FORMS}`);
  }
  if (last === undefined) {
    const length = /[a-z]$/.test(first.trim()) ? parseDuration(first) : null;
    const until = length?.ok ? now + length.value : readInstant(flag, first, now);
    return { notBefore: now, until };
  }
  const notBefore = readInstant(flag, first, now);
  // A time of day at the end is the next one after the beginning; +4h is from now, at both ends.
  const until = readInstant(flag, last, last.trim().startsWith('+') ? now : notBefore);
  if (until <= notBefore) throw usage(`${flag}: '${text}' ends before it begins`);
  return { notBefore, until };
}

export function dropUndefined<T extends object>(
  value: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}
