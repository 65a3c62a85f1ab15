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

/** A slip of the finger must not take all memory. */
const WIDTH_MAX = 4096;

/** `%[[.]size]letter`, and what stands between. */
export function byLetters<Row>(
  format: string,
  fields: Readonly<Record<string, Field<Row>>>,
): Result<Piece<Row>[], string> {
  if (format.startsWith('%all')) return ok(allOf(fields));
  const pieces: Piece<Row>[] = [];
  let from = 0;
  for (const found of format.matchAll(/%(\.?)(\d*)(.?)/gs)) {
    const [whole, right, size = '', letter = ''] = found;
    if (whole === '%%') continue;
    const field = Object.hasOwn(fields, letter) ? fields[letter] : undefined;
    if (field === undefined || Number(size) > WIDTH_MAX)
      return err(`Invalid job format specification: ${field === undefined ? letter : whole}`);
    if (found.index > from) pieces.push(textOf(format.slice(from, found.index)));
    pieces.push({ kind: 'field', ...field, width: Number(size), right: right === '.' });
    from = found.index + whole.length;
  }
  if (from < format.length) pieces.push(textOf(format.slice(from)));
  return ok(pieces);
}

/** `%all`: each of them, with a bar behind it but for the last. */
function allOf<Row>(fields: Readonly<Record<string, Field<Row>>>): Piece<Row>[] {
  return Object.values(fields).flatMap((field, at) => [
    ...(at === 0 ? [] : [textOf('|')]),
    { kind: 'field', ...field, width: 0, right: false } as const,
  ]);
}

const textOf = (text: string) => ({ kind: 'text', text: text.replaceAll('%%', '%') }) as const;

/**
 * `JobID%20,State%-12` (sacct) or `JobID:20,State:|` (squeue -O), names in any letters. For sacct
 * and its like beginnings will do, the first by letters counts; `ALL` is all of them.
 */
export function byNames<Row>(
  format: string,
  fields: Readonly<Record<string, Field<Row> & { readonly width: number }>>,
  { mark, right = false }: { readonly mark: '%' | ':'; readonly right?: boolean },
): Result<Piece<Row>[], string> {
  const pieces: Piece<Row>[] = [];
  for (const word of format.split(',').filter((one) => one.trim() !== '')) {
    // What stands behind the size of `JobID:8|` is text: a blank there is no slip.
    const [name = '', said] = (mark === ':' ? word.trimStart() : word.trim()).split(mark);
    const found = named(fields, name.trim().toLowerCase(), mark === '%' ? 'beginnings' : 'names');
    if (found.length === 0) return err(`Invalid field requested: "${name}"`);
    const [, sign = '', size = '', text = ''] = /^([.-]?)(\d*)(.*)$/s.exec(said ?? '') ?? [];
    if (Number(size) > WIDTH_MAX) return err(`Invalid field requested: "${word.trim()}"`);
    // `JobID:.20` stands to the right, `JobID%-20` to the left.
    const isRight = mark === ':' ? sign === '.' : right && sign !== '-';
    for (const field of found) {
      // `JobID:` of squeue is as wide as the value, `JobID%` of sacct as wide as its column.
      const own = said === undefined || mark === '%' ? field.width : 0;
      const width = size === '' ? own : Number(size);
      pieces.push({ kind: 'field', ...field, width, right: isRight });
    }
    if (mark === ':' && text !== '') pieces.push({ kind: 'text', text });
  }
  return pieces.length === 0 ? err('Invalid field requested: ""') : ok(pieces);
}

function named<Found>(
  fields: Readonly<Record<string, Found>>,
  name: string,
  by: 'names' | 'beginnings',
): Found[] {
  const all = Object.entries(fields).map(([one, field]) => [one.toLowerCase(), field] as const);
  const exact = all.find(([one]) => one === name);
  if (exact !== undefined) return [exact[1]];
  if (by === 'names' || name === '') return [];
  if ('all'.startsWith(name)) return all.map(([, field]) => field);
  const near = all.filter(([one]) => one.startsWith(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return near.slice(0, 1).map(([, field]) => field);
}

export interface Lay {
  readonly header: boolean;
  /** Between columns; null: columns of their widths, as they stand. */
  readonly separator: string | null;
  /** Behind the last column too. */
  readonly closing?: boolean;
  /** Stands at the end of a value that is cut, as in sacct. */
  readonly cutBy?: '+';
}

/** Values longer than their column are cut, as Slurm does. */
export function layOut<Row>(
  pieces: readonly Piece<Row>[],
  rows: readonly Row[],
  { header, separator, closing = false, cutBy }: Lay,
): string[] {
  const line = (say: (field: Extract<Piece<Row>, { kind: 'field' }>) => string): string => {
    if (separator !== null) {
      const cells = pieces.flatMap((piece) => (piece.kind === 'field' ? [say(piece)] : []));
      return cells.join(separator) + (closing ? separator : '');
    }
    let text = '';
    for (const piece of pieces)
      text += piece.kind === 'text' ? piece.text : fit(say(piece), piece, cutBy);
    return text;
  };
  const lines = rows.map((row) => line(({ value }) => value(row)));
  return header ? [line(({ title }) => title), ...lines] : lines;
}

function fit(
  text: string,
  { width, right }: { readonly width: number; readonly right: boolean },
  cutBy = '',
): string {
  if (width === 0) return text;
  const kept = width - cutBy.length;
  const cut = text.length > width ? text.slice(0, kept) + cutBy : text;
  return right ? cut.padStart(width) : cut.padEnd(width);
}
