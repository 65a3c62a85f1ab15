// One thing in full: what `show` verbs print, as `-o` says.

import { parseFormat } from './listing.ts';
import { printable } from './table.ts';
import { fillTemplate } from './template.ts';

/** Title and value; an empty value, or `-`, is left out. */
export type Titled = readonly [title: string, value: string];

const WIDTH = 16;

/** `name`: what `-o name` prints, the word other commands take. */
export function formatOne<T extends object>(
  one: T,
  output: string | undefined,
  name: string,
  inWords: (one: T) => readonly string[],
): readonly string[] {
  const format = parseFormat(output);
  if (format.kind === 'json') return [JSON.stringify(one, null, 2)];
  if (format.kind === 'name') return [name];
  if (format.kind === 'template') return [fillTemplate(format.template, one)];
  return inWords(one);
}

/** Under one another, the values in a column. */
export function titledLines(lines: readonly Titled[], width = WIDTH): string[] {
  const shown = lines.filter(([, value]) => value !== '' && value !== '-');
  return shown.map(([title, value]) => `${`${title}:`.padEnd(width)} ${printable(value)}`);
}
