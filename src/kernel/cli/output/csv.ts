// `-o csv`: rows for spreadsheets and programs, as RFC 4180 has them.

import { csvCell } from '../../base/csv-cell.ts';
import type { Column } from './table.ts';

/** The lines without their ends; the first one names the columns, whatever rows there are. */
export function formatCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const titles = columns.map(({ title }) => title.toLowerCase().replaceAll(' ', '_'));
  const lines = rows.map((row) => columns.map((column) => cellOf(column, row)));
  // RFC 4180 ends each line with CR LF; the LF is added by whoever prints.
  return [titles, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\r`);
}

function cellOf<Row>({ raw, value }: Column<Row>, row: Row): string {
  if (raw === undefined) {
    const words = value(row);
    // What a table shows where there is nothing.
    return words === '-' ? '' : words;
  }
  const fact = raw(row);
  if (fact === null || fact === undefined) return '';
  return fact instanceof Date ? fact.toISOString() : String(fact);
}
