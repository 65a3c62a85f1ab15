// `-o template={{id}} {{state}}`: one line per row from the fields that `-o json` shows.

import { didYouMean } from '../../core/base/nearest-word.ts';
import { usage } from '../failure.ts';

/** Fills `{{field}}` and `{{field.inner}}`; `\n` and `\t` in the template are what they say. */
export function fillTemplate(template: string, row: object): string {
  const text = template.replace(/\\([nt\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
  return text.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, path: string) => field(row, path));
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' };

function field(row: object, path: string): string {
  let value: unknown = row;
  for (const name of path.split('.')) {
    if (value === null || value === undefined) return '';
    if (typeof value !== 'object' || !Object.hasOwn(value, name)) {
      // Fields that a row may lack (an exit code before the end) are empty, not wrong.
      if (value !== row) return '';
      throw usage(`no field '${name}' in the template.${didYouMean(name, Object.keys(row))}`);
    }
    value = (value as Record<string, unknown>)[name];
  }
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
