// Format strings: `%.18i` of squeue and sinfo -o, `JobID%20,State` of sacct --format, names of
// squeue -O.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

/** One column, or the text between two. */
export type Piece<Row> =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'field';
      readonly title: string;
      readonly value: (row: Row) => string;
      /** 0: as wide as the value. */
      readonly width: number;
      readonly right: boolean;
    };

export interface Field<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
}

/** `%[[.]size]letter`, and what stands between. */
export function byLetters<Row>(
  format: string,
  fields: Readonly<Record<string, Field<Row>>>,
): Result<Piece<Row>[], string> {
  const pieces: Piece<Row>[] = [];
  let from = 0;
  for (const found of format.matchAll(/%(\.?)(\d*)([A-Za-z])/g)) {
    const [whole, right, size = '', letter = ''] = found;
    const field = fields[letter];
    if (field === undefined) return err(`Invalid job format specification: ${letter}`);
    if (found.index > from) pieces.push({ kind: 'text', text: format.slice(from, found.index) });
    pieces.push({ kind: 'field', ...field, width: Number(size), right: right === '.' });
    from = found.index + whole.length;
  }
  if (from < format.length) pieces.push({ kind: 'text', text: format.slice(from) });
  return ok(pieces);
}

/** `JobID%20,State%-12` (sacct) or `JobID:20,State` (squeue -O), names in any letters. */
export function byNames<Row>(
  format: string,
  fields: Readonly<Record<string, Field<Row> & { readonly width: number }>>,
  { mark, right }: { readonly mark: '%' | ':'; readonly right: boolean },
): Result<Piece<Row>[], string> {
  const pieces: Piece<Row>[] = [];
  for (const word of format.split(',').filter((one) => one.trim() !== '')) {
    const [name = '', size] = word.trim().split(mark);
    const found = Object.entries(fields).find(([one]) => one.toLowerCase() === name.toLowerCase());
    if (found === undefined) return err(`Invalid field requested: "${name}"`);
    const [, field] = found;
    const said = Number((size ?? '').replace(/[^\d-]/g, '') || field.width);
    const width = Number.isFinite(said) ? Math.abs(said) : field.width;
    pieces.push({ kind: 'field', ...field, width, right: right && said >= 0 });
  }
  return ok(pieces);
}

export interface Lay {
  readonly header: boolean;
  /** Between columns; null: columns of their widths, as they stand. */
  readonly separator: string | null;
  /** Behind the last column too. */
  readonly closing?: boolean;
}

/** Values longer than their column are cut, as Slurm does. */
export function layOut<Row>(
  pieces: readonly Piece<Row>[],
  rows: readonly Row[],
  { header, separator, closing = false }: Lay,
): string[] {
  const line = (say: (field: Extract<Piece<Row>, { kind: 'field' }>) => string): string => {
    if (separator !== null) {
      const cells = pieces.flatMap((piece) => (piece.kind === 'field' ? [say(piece)] : []));
      return cells.join(separator) + (closing ? separator : '');
    }
    return pieces
      .map((piece) => (piece.kind === 'text' ? piece.text : fit(say(piece), piece)))
      .join('');
  };
  const lines = rows.map((row) => line(({ value }) => value(row)));
  return header ? [line(({ title }) => title), ...lines] : lines;
}

function fit(
  text: string,
  { width, right }: { readonly width: number; readonly right: boolean },
): string {
  if (width === 0) return text;
  const cut = text.slice(0, width);
  return right ? cut.padStart(width) : cut.padEnd(width);
}
