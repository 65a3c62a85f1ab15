// Types of job options: how a value is read from a command line, how a program gives it, and the
// form from which schemas are made.

import { formatDuration, parseDuration } from '../../base/duration.ts';
import { hiddenIn, isPlainLine } from '../../base/plain-line.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { formatSize } from '../../base/size.ts';
import { utf8Length } from '../../base/utf8.ts';
import { isWhole } from '../../base/whole.ts';
import { parseCount, parseMemory, parseUmask, parseWalltime } from '../submission-values.ts';

/** Milliseconds, or text as `90s`, `1h30m`, `2-12:00:00`. */
export type Duration = number | string;
/** Bytes, or text as `512M`, `4G`. */
export type Size = number | string;

/** A job or one task of an array, by its handle, its number, or as `42[7]`. */
export type JobReference = { readonly id: string } | number | string;

/** What a reader brings along: an instant depends on its clock and its time zone. */
export interface Reading {
  readonly instant: (text: string) => Result<number, string>;
}

/** The form of a value in a request; `own`: the schema of its field is written by hand. */
export type Form =
  | { readonly kind: 'whole'; readonly least: number; readonly most: number }
  | { readonly kind: 'choice'; readonly words: readonly string[] }
  | { readonly kind: 'flag' | 'own' }
  | { readonly kind: 'line'; readonly most: number; readonly unit: LineUnit };

type LineUnit = 'characters' | 'bytes';

/** A value `V` of a submission, which a program gives as `P`. */
export interface OptionType<V, P> {
  readonly form: Form;
  /** How `P` is written, for the names of the library. */
  readonly program: string;
  /** From a command line: every text that was given for it. */
  readonly parse: (texts: readonly string[], reading: Reading) => Result<V, string>;
  /** From a program without types, too. */
  readonly take: (given: P, reading: Reading) => Result<V, string>;
  /** The text of a value on a command line; absent: its plain text. */
  readonly format?: (value: V) => string;
  /** A command line has several values in one text, separated by commas. */
  readonly isList?: true;
  /** What is wrong with a value of the right type; null: nothing. */
  readonly flaw: (value: V) => string | null;
}

type ParseOne<V> = (text: string, reading: Reading) => Result<V, string>;
const FLAWLESS = () => null;

/** A whole number within bounds, both included. */
export function whole(least: number, most: number): OptionType<number, number> {
  const flaw = (value: number) =>
    isWhole(value, least, most)
      ? null
      : `${shownAs(value)} is not a whole number from ${least} to ${most}`;
  return {
    form: { kind: 'whole', least, most },
    program: 'number',
    parse: ([text = '']) => parseCount(text, least, most),
    take: (given) => unlessFlawed(given, flaw(given)),
    flaw,
  };
}

/** Yes or no. */
export const FLAG: OptionType<boolean, boolean> = {
  form: { kind: 'flag' },
  program: 'boolean',
  parse: () => ok(true),
  take: (given) =>
    typeof given === 'boolean' ? ok(given) : err(`${shownAs(given)} is neither true nor false`),
  flaw: FLAWLESS,
};

/** Text of one line, without characters that are not seen. */
export function line(most: number, unit: LineUnit = 'characters'): OptionType<string, string> {
  const flaw = (text: string) => {
    if (text === '') return 'may not be empty';
    if (!isPlainLine(text)) return `has characters that are not seen (${hiddenIn(text)})`;
    const length = unit === 'bytes' ? utf8Length(text) : text.length;
    return length > most ? `has ${length} ${unit}; ${most} are the most` : null;
  };
  return {
    form: { kind: 'line', most, unit },
    program: 'string',
    parse: ([text = '']) => unlessFlawed(text, flaw(text)),
    take: (given) =>
      typeof given === 'string'
        ? unlessFlawed(given, flaw(given))
        : err(`${shownAs(given)} is not text`),
    flaw,
  };
}

/** One of some words. */
export function choice<W extends string>(words: readonly W[]): OptionType<W, W> {
  const parse = (text: string) => {
    const known = words.find((word) => word === text);
    return known === undefined ? err(`'${text}' is not ${words.join(' or ')}`) : ok(known);
  };
  return {
    form: { kind: 'choice', words },
    program: words.map((word) => `'${word}'`).join(' | '),
    parse: ([text = '']) => parse(text),
    take: (given) => parse(String(given)),
    flaw: FLAWLESS,
  };
}

/** A value that has a text of its own, which programs give too. */
export function written<V>(parse: ParseOne<V>): OptionType<V, string> {
  return {
    form: { kind: 'own' },
    program: 'string',
    parse: ([text = ''], reading) => parse(text, reading),
    take: (given, reading) => parse(String(given), reading),
    flaw: FLAWLESS,
  };
}

/** Any number of such values; a program may give one alone. */
export function several<V, P = string>(
  parse: ParseOne<V>,
  textOf: (given: P) => string = String,
  program = 'string',
): OptionType<readonly V[], P | readonly P[]> {
  const parseAll = (texts: readonly string[], reading: Reading) => {
    const found: V[] = [];
    for (const text of texts) {
      const one = parse(text, reading);
      if (!one.ok) return one;
      found.push(one.value);
    }
    return ok(found);
  };
  return {
    form: { kind: 'own' },
    program: `${program} | readonly ${program}[]`,
    parse: parseAll,
    take: (given, reading) => {
      const all = Array.isArray(given) ? (given as readonly P[]) : [given as P];
      return parseAll(all.map(textOf), reading);
    },
    flaw: FLAWLESS,
  };
}

/** The same, separated by commas on a command line. */
export function separated<V>(
  parse: ParseOne<V>,
): OptionType<readonly V[], string | readonly string[]> {
  const type = several(parse);
  const split = (text: string) => text.split(',').map((word) => word.trim());
  return {
    ...type,
    isList: true,
    parse: (texts, reading) => type.parse(texts.flatMap(split), reading),
  };
}

/** A file mode creation mask, in octal where it is text. */
export const UMASK: OptionType<number, number> = {
  ...whole(0, 0o777),
  parse: ([text = '']) => parseUmask(text),
};

/** Bytes. */
export const SIZE: OptionType<number, Size> = {
  form: { kind: 'whole', least: 0, most: Number.MAX_SAFE_INTEGER },
  program: 'Size',
  format: formatSize,
  parse: ([text = '']) => parseMemory(text),
  take: (given) => {
    if (typeof given === 'string') return parseMemory(given);
    if (Number.isSafeInteger(given) && given >= 0) return ok(given);
    return err(`${given} is not a size; give bytes or text as '512M'`);
  },
  flaw: FLAWLESS,
};

/** A time limit in milliseconds; null: none. */
export const WALLTIME: OptionType<number | null, Duration | 'none'> = {
  form: { kind: 'own' },
  program: "Duration | 'none'",
  format: (value) => (value === null ? 'none' : formatDuration(value)),
  parse: ([text = '']) => parseWalltime(text),
  take: (given) => {
    if (typeof given === 'string') return parseWalltime(given);
    const span = takeDuration(given);
    return span.ok && span.value === 0
      ? err("the time limit is 0; write 'none' for no limit")
      : span;
  },
  flaw: FLAWLESS,
};

/** A span in milliseconds. */
export function takeDuration(given: Duration): Result<number, string> {
  if (typeof given === 'string') return parseDuration(given);
  if (Number.isFinite(given) && given >= 0) return ok(Math.round(given));
  return err(`${given} is not a span; give milliseconds or text as '90s'`);
}

/** An instant to come. */
export const INSTANT: OptionType<number, Date | number | string> = {
  form: { kind: 'own' },
  program: 'Date | number | string',
  parse: ([text = ''], { instant }) => instant(text),
  take: (given, { instant }) => {
    if (typeof given === 'string') return instant(given);
    const at = Number(given);
    return Number.isFinite(at)
      ? ok(at)
      : err(`'${String(given)}' is not a time; give a Date, or text as '+2h'`);
  },
  flaw: FLAWLESS,
};

/** A value as a message shows it. */
export function shownAs(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function unlessFlawed<V>(value: V, flaw: string | null): Result<V, string> {
  return flaw === null ? ok(value) : err(flaw);
}
