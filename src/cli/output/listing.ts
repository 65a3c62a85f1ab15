// `-o json|wide|name|template=…` of every listing.

import type { Command } from 'commander';
import { usage } from '../failure.ts';
import { type Column, formatTable } from './table.ts';
import { fillTemplate } from './template.ts';

export interface ListingOptions {
  readonly output?: string;
}

export type Format =
  | { readonly kind: 'table' | 'wide' | 'json' | 'name' }
  | { readonly kind: 'template'; readonly template: string };

/** Adds `-o`. */
export function defineListing(command: Command): void {
  command.option('-o, --output <format>', 'json, wide, name or template=TEXT with {{fields}}');
}

/** Reads `-o`. */
export function parseFormat(text: string | undefined): Format {
  if (text === undefined || text === 'table') return { kind: 'table' };
  if (text === 'json' || text === 'wide' || text === 'name') return { kind: text };
  if (text.startsWith('template=')) return { kind: 'template', template: text.slice(9) };
  throw usage(`--output: '${text}' is not a format; write json, wide, name or template={{field}}`);
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
): string[] {
  switch (format.kind) {
    case 'json':
      return [JSON.stringify(rows, null, 2)];
    case 'name':
      return rows.map(name);
    case 'template':
      return rows.map((row) => fillTemplate(format.template, row));
    default:
      return rows.length === 0 ? [empty] : formatTable(columns, rows, format.kind === 'wide');
  }
}
