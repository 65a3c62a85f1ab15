// `-o json|csv|wide|name|template=…` of every listing.

import type { Command } from 'commander';
import { csvCell } from '../../base/csv-cell.ts';
import { type Failure, usage } from '../../model/failure.ts';
import { type Column, formatTable, PLAIN_LOOK } from './table.ts';
import { fillTemplate, templateFields } from './template.ts';

export interface ListingOptions {
  readonly output?: string;
}

export type Format =
  | { readonly kind: 'table' | 'wide' | 'json' | 'csv' | 'name' | 'fields' }
  | { readonly kind: 'template'; readonly template: string };

/** What `-o` takes, for completion; a word that ends in `=` goes on. */
export const FORMAT_WORDS = ['json', 'csv', 'wide', 'name', 'template='];

/** Adds `-o` and `--watch`. */
export function defineListing(command: Command): void {
  const template = 'template=TEXT with {{fields}}; template alone lists the fields';
  command.option('-o, --output <format>', `json, csv, wide, name or ${template}`);
  command.option('--watch [time]', 'refresh every TIME (default: 2s)');
}

const KINDS: ReadonlySet<string> = new Set(['json', 'csv', 'wide', 'name']);

/** Reads `-o`. */
export function parseFormat(text: string | undefined): Format {
  if (text === undefined || text === 'table') return { kind: 'table' };
  if (KINDS.has(text)) return { kind: text as 'json' };
  if (text === 'template' || text === 'template=') return { kind: 'fields' };
  if (text.startsWith('template=')) return { kind: 'template', template: text.slice(9) };
  throw usage(
    `--output: '${text}' is not a format; write json, csv, wide, name or template={{field}}`,
  );
}

/** For what prints no rows: there would be nothing to put into columns. */
export function noTable(): Failure {
  return usage('--output: csv is for lists; write json or template={{field}}');
}

export interface Listing<Row extends object> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** What `-o name` prints: the word other commands take. */
  readonly name: (row: Row) => string;
  /** Instead of an empty table. */
  readonly empty: string;
}

/** The listing as lines. */
export function formatListing<Row extends object>(
  { rows, columns, name, empty }: Listing<Row>,
  format: Format,
  look = PLAIN_LOOK,
): string[] {
  switch (format.kind) {
    case 'json':
      return [JSON.stringify(rows, null, 2)];
    case 'csv':
      return formatCsv(columns, rows);
    case 'name':
      return rows.map(name);
    case 'template':
      return rows.map((row) => fillTemplate(format.template, row));
    case 'fields':
      return rows.length === 0 ? [empty] : templateFields(rows);
    default:
      return rows.length === 0
        ? [empty]
        : formatTable(columns, rows, format.kind === 'wide' ? 'all' : 'main', look);
  }
}

// `-o csv`: rows for spreadsheets and programs, as RFC 4180 has them.

/** The lines without their ends; the first one names the columns, whatever rows there are. */
export function formatCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const own = columns.flatMap((column): readonly Cell<Row>[] => column.facts ?? [column]);
  const titles = own.map(({ title }) => title.toLowerCase().replaceAll(' ', '_'));
  const lines = rows.map((row) => own.map((column) => cellOf(column, row)));
  // RFC 4180 ends each line with CR LF; the LF is added by whoever prints.
  return [titles, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\r`);
}

type Cell<Row> = Pick<Column<Row>, 'title'> & Partial<Pick<Column<Row>, 'raw' | 'value'>>;

function cellOf<Row>({ raw, value }: Cell<Row>, row: Row): string {
  if (raw === undefined) {
    const words = value?.(row) ?? '';
    // What a table shows where there is nothing.
    return words === '-' ? '' : words;
  }
  const fact = raw(row);
  if (fact === null || fact === undefined) return '';
  return fact instanceof Date ? fact.toISOString() : String(fact);
}
