// `--sweep a=1,2 b=0:3`: one task for each combination of values, the last name changing fastest.

import { plural } from '../../base/plural.ts';
import { quoteWord } from '../../base/shell-word.ts';
import { checkSweep, combinations, sweepSize } from '../../files/sweep.ts';
import { usage } from '../../model/failure.ts';
import { formatItem } from '../../model/items.ts';
import type { Item } from '../../model/job.ts';
import { ARRAY_TASKS_MAX } from '../../model/limits.ts';

const AXIS = /^([A-Za-z_][\w-]*)=(\S+)$/;
/** A range as other programs write it. */
const OTHER_RANGE = /^([-+]?\d+)\.\.(\d+)$/;
const NUMBER = /^([-+]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?$/;

/** Words behind `--sweep` that name further values, as the shell splits `--sweep a=1,2 b=0:3`. */
export function withAxes<T extends { readonly sweep?: readonly string[] }>(
  options: T,
  args: readonly string[],
): { readonly options: T; readonly args: readonly string[] } {
  if (options.sweep === undefined) return { options, args };
  const found = args.findIndex((word) => !AXIS.test(word));
  const count = found === -1 ? args.length : found;
  if (count === 0) return { options, args };
  const sweep = [...options.sweep, ...args.slice(0, count)];
  const rest = args.slice(args[count] === '--' ? count + 1 : count);
  if (args[count]?.startsWith('-') && args[count] !== '--') {
    const written = quoteWord(sweep.join(' '));
    throw usage(`options go before further values of --sweep; or write --sweep ${written}`);
  }
  return { options: { ...options, sweep }, args: rest };
}

/** `6 points, from lr=0.1 seed=0 to lr=0.2 seed=2`: whether both ends are meant is seen at once. */
export function pointsWords(items: readonly Item[]): string {
  const [first = '', last = ''] = [items[0], items.at(-1)];
  const to = items.length === 1 ? '' : ` to ${formatItem(last)}`;
  return `${plural(items.length, 'point')}, ${to === '' ? '' : 'from '}${formatItem(first)}${to}`;
}

/** The points of a sweep; throws a usage failure. */
export function sweepItems(words: readonly string[]): Item[] {
  const sweep: Record<string, string[]> = {};
  for (const word of words.flatMap((text) => text.trim().split(/\s+/))) {
    const [, name = '', values = ''] = AXIS.exec(word) ?? [];
    if (name === '') throw usage(`--sweep: '${word}' is not name=values; write a=1,2 or b=0:3`);
    if (Object.hasOwn(sweep, name)) throw usage(`--sweep: '${name}' is there twice`);
    sweep[name] = values.split(',').flatMap((value) => range(word, value));
  }
  const [problem] = checkSweep(sweep);
  if (problem !== undefined)
    throw usage(`--sweep: ${problem.at.slice(1).join(' ')} ${problem.what}`);
  const size = sweepSize(sweep);
  if (size > ARRAY_TASKS_MAX) {
    throw usage(`--sweep: ${size} points are more than the ${ARRAY_TASKS_MAX} tasks of one job`);
  }
  return combinations(sweep).map((values) => Object.fromEntries(values));
}

/** `0:3` is 0, 1, 2 and 3, `0:1:0.25` goes in steps: both ends belong to it, as in `--array`. */
function range(word: string, value: string): string[] {
  const parts = value.split(':');
  if (value === '') throw usage(`--sweep: '${word}' has an empty value`);
  const [, low, high] = OTHER_RANGE.exec(value) ?? [];
  if (low !== undefined)
    throw usage(`--sweep: '${value}' would be one value; write ${low}:${high} for the range`);
  if (parts.length === 1) return [value];
  if (!parts.every((part) => NUMBER.test(part))) return [value];
  const digits = Math.max(...parts.map(digitsOf));
  const [from = 0n, to = 0n, step = 10n ** BigInt(digits)] = parts.map((part) =>
    scaled(part, digits),
  );
  if (parts.length > 3 || step <= 0n || to < from) {
    throw usage(`--sweep: '${value}' is not a range; write 0:3, or 0:1:0.25 with a step`);
  }
  const last = (to - from) / step;
  if (last >= ARRAY_TASKS_MAX) {
    throw usage(`--sweep: '${value}' has more values than the ${ARRAY_TASKS_MAX} tasks of one job`);
  }
  return Array.from({ length: Number(last) + 1 }, (_, at) =>
    decimal(from + BigInt(at) * step, digits),
  );
}

/** Digits behind the point that a number needs: 3 of `0.125`, 4 of `1e-4`, none of `1e6`. */
function digitsOf(text: string): number {
  const [, , , behind = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  return Math.max(0, behind.length - Number(exponent));
}

/** The whole number that a text is in units of its last digit: exact, as seeds have 64 bits. */
function scaled(text: string, digits: number): bigint {
  const [, sign = '', before = '', behind = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const shift = digits + Number(exponent) - behind.length;
  const whole = BigInt(before + behind) * 10n ** BigInt(shift);
  return sign === '-' ? -whole : whole;
}

function decimal(units: bigint, digits: number): string {
  const sign = units < 0n ? '-' : '';
  const text = String(units < 0n ? -units : units).padStart(digits + 1, '0');
  const point = text.length - digits;
  return sign + text.slice(0, point) + (digits === 0 ? '' : `.${text.slice(point)}`);
}
