// Rows of a CSV file (RFC 4180): fields between commas, in quotes where they hold commas, quotes or
// line ends.

import { err, ok, type Result } from '../../base/result.ts';

export interface CsvRow {
  readonly fields: readonly string[];
  /** From 1: where it begins. */
  readonly line: number;
}

/** All rows but empty ones; the error says in which line. */
export function csvRows(text: string): Result<CsvRow[], { line: number; what: string }> {
  const rows: CsvRow[] = [];
  let line = 1;
  let start = 1;
  let fields: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < text.length || fields.length > 0) {
    const at = field.lastIndex;
    const found = field.exec(text);
    if (found === null)
      return err({ line, what: 'a quote is not closed, or stands inside a field' });
    const [whole, quoted, plain = '', end] = found;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (fields.length > 1 || fields[0] !== '') rows.push({ fields, line: start });
    fields = [];
    start = line;
    if (at === text.length) break;
  }
  return ok(rows);
}
