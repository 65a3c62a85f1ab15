// Values of the options that are a field of a submission each, as somebody typed them.

import { usage } from '../../model/failure.ts';
import {
  attributeOf,
  FIELD_ROWS,
  type FieldRow,
  type FieldValues,
  flagOf,
} from '../../model/options/table.ts';
import { parseInstant } from './instant.ts';

type Typed = Readonly<Record<string, unknown>>;

/** By field. Throws a usage failure that names the option. */
export function optionValues(options: object, now: number): Partial<FieldValues> {
  return valuesOf(FIELD_ROWS, options as Typed, (row, texts) => parsed(row, texts, now));
}

/** Those that `weft change` changes; `none` takes some of them away. */
export function changedValues(options: object, now: number): Partial<FieldValues> {
  const rows = FIELD_ROWS.filter(({ change }) => change !== undefined);
  return valuesOf(rows, options as Typed, (row, texts) => {
    return row.change?.none && texts[0] === 'none' ? null : parsed(row, texts, now);
  });
}

function valuesOf(
  rows: readonly FieldRow[],
  options: Typed,
  read: (row: FieldRow, texts: readonly string[]) => unknown,
): Partial<FieldValues> {
  const pairs = rows.flatMap((row) => {
    const typed = options[attributeOf(row)];
    // Commander says true of a `--no-` option that nobody gave.
    if (typed === undefined || (typed === true && row.flags.startsWith('--no-'))) return [];
    if (typeof typed === 'boolean') return [[row.field, typed]];
    return [[row.field, read(row, [typed].flat() as string[])]];
  });
  return Object.fromEntries(pairs) as Partial<FieldValues>;
}

function parsed(row: FieldRow, texts: readonly string[], now: number): unknown {
  const value = row.type.parse(texts, { instant: (text) => parseInstant(text, now) });
  if (!value.ok) throw usage(`${flagOf(row)}: ${value.error}`);
  return value.value;
}
