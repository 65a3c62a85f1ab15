// Tables of sacctmgr and sshare: columns by name, with a line below the titles or bars between
// them.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { byNames, type Field, layOut } from '../core/formats.ts';

export type Columns<Row> = Readonly<Record<string, Field<Row> & { readonly width: number }>>;

export const column = <Row>(
  title: string,
  width: number,
  of: (row: Row) => string | number,
): Field<Row> & { readonly width: number } => ({ title, width, value: (row) => String(of(row)) });

export interface TableLook {
  readonly noheader?: string;
  readonly parsable?: string;
  readonly parsable2?: string;
}

export function printColumns<Row>(
  context: Context,
  { noheader, parsable, parsable2 }: TableLook,
  {
    format,
    columns,
    rows,
  }: {
    readonly format: string;
    readonly columns: Columns<Row>;
    readonly rows: readonly Row[];
  },
): void {
  const pieces = byNames(format, columns, { mark: '%', right: true });
  if (!pieces.ok) throw usage(pieces.error);
  const isBarred = parsable !== undefined || parsable2 !== undefined;
  const header = noheader === undefined;
  const spaced = isBarred
    ? pieces.value
    : pieces.value.flatMap((piece) => [piece, { kind: 'text', text: ' ' } as const]);
  const separator = isBarred ? '|' : null;
  const closing = parsable !== undefined;
  // Programs take a line of blanks for an account without a name.
  const said = rows.filter((row) =>
    pieces.value.some((piece) => piece.kind === 'field' && piece.value(row) !== ''),
  );
  const lines = layOut(spaced, said, { header, separator, closing, cutBy: '+' });
  if (header && !isBarred) {
    const widths = pieces.value.map((piece) => (piece.kind === 'field' ? piece.width : 0));
    lines.splice(1, 0, widths.map((width) => `${'-'.repeat(width)} `).join(''));
  }
  if (lines.length > 0) context.print(lines.join('\n'));
}
