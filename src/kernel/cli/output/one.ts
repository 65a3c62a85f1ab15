// One thing in full: what `show` verbs print, as `-o` says.

import { noTable, parseFormat } from './listing.ts';
import { type Colour, type Paint, PLAIN } from './paint.ts';
import { printable } from './table.ts';
import { fillTemplate, templateFields } from './template.ts';

/** Title and value; an empty value, or `-`, is left out. */
export type Titled = readonly [title: string, value: string, colour?: Colour | null];

const WIDTH = 16;

/** `name`: what `-o name` prints, the word other commands take. */
export function formatOne<T extends object>(
  one: T,
  output: string | undefined,
  name: string,
  inWords: (one: T) => readonly string[],
): readonly string[] {
  const format = parseFormat(output);
  if (format.kind === 'csv') throw noTable();
  if (format.kind === 'json') return [JSON.stringify(one, null, 2)];
  if (format.kind === 'name') return [name];
  if (format.kind === 'fields') return templateFields([one]);
  if (format.kind === 'template') return [fillTemplate(format.template, one)];
  return inWords(one);
}

/** Under one another, the values in a column. */
export function titledLines(
  lines: readonly Titled[],
  width = WIDTH,
  paint: Paint = PLAIN,
): string[] {
  const shown = lines.filter(([, value]) => value !== '' && value !== '-');
  return shown.map(([title, value, colour = null]) => {
    return `${`${title}:`.padEnd(width)} ${paint(printable(value), colour)}`;
  });
}
