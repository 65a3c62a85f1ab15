// `-o template={{id}} {{state}}`: one line per row from the fields that `-o json` shows.

import { didYouMean } from '../../base/nearest-word.ts';
import { usage } from '../../model/failure.ts';

/** Fills `{{field}}` and `{{field.inner}}`; `\n` and `\t` in the template are what they say. */
export function fillTemplate(template: string, row: object): string {
  const text = template.replace(/\\([nt\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
  return text.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, path: string) => field(row, path));
}

/** The fields of these rows, as a template names them, one a line. */
export function templateFields(rows: readonly object[]): string[] {
  const paths = new Set<string>();
  for (const row of rows) for (const path of pathsOf(row, '')) paths.add(path);
  return [...paths];
}

/** Objects within objects are taken apart; a list is one value. */
function* pathsOf(value: object, prefix: string): Generator<string> {
  for (const [name, inner] of Object.entries(value)) {
    const isRecord = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    if (isRecord && Object.keys(inner).length > 0) yield* pathsOf(inner, `${prefix}${name}.`);
    else yield `${prefix}${name}`;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' };

function field(row: object, path: string): string {
  let value: unknown = row;
  for (const name of path.split('.')) {
    if (value === null || value === undefined) return '';
    if (typeof value !== 'object' || !Object.hasOwn(value, name)) {
      // Fields that a row may lack (an exit code before the end) are empty, not wrong.
      if (value !== row) return '';
      const known = Object.keys(row);
      const what = `no field '${name}' in the template.${didYouMean(name, known)}`;
      throw usage(what, `Fields: ${known.join(', ')}. \`-o template\` lists the inner ones too.`);
    }
    value = (value as Record<string, unknown>)[name];
  }
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
