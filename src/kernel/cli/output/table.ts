// Tables for people: columns as wide as their content, numbers to the right. Lines fit the
// terminal: what may be shortened is. Where there is none, in a pipe or a file, nothing is cut off.

import { toPlainLine } from '../../base/plain-line.ts';
import { type Colour, type Paint, PLAIN } from './paint.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: 'right';
  /** Only with `-o wide`. */
  readonly wide?: boolean;
  /** The fact behind the words, for `-o csv`: instants, seconds, bytes. Absent: the words. */
  readonly raw?: (row: Row) => string | number | Date | null;
  /** Columns that stand for it in `-o csv`, where its cells say several facts. */
  readonly facts?: readonly (Pick<Column<Row>, 'title'> & Required<Pick<Column<Row>, 'raw'>>)[];
  /** By the words in the cell; only on a terminal. */
  readonly colour?: (words: string) => Colour | null;
  /** May be shortened down to this width when a line would be longer than the terminal is wide. */
  readonly least?: number;
}

/** How a table looks where it goes. */
export interface Look {
  readonly paint: Paint;
  /** Columns of the terminal; null: there is none. */
  readonly width: number | null;
}

export const PLAIN_LOOK: Look = { paint: PLAIN, width: null };

const GAP = '  ';

/** Lines of a table, title line first; `-o wide` has `all` columns, however long the lines. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  which: 'main' | 'all' = 'main',
  { paint, width } = PLAIN_LOOK,
): string[] {
  const shown = columns.filter((column) => which === 'all' || !column.wide);
  const cells = rows.map((row) => shown.map(({ value }) => printable(value(row))));
  const lines = [shown.map(({ title }) => title), ...cells];
  const lineMax = which === 'all' || width === null ? Number.POSITIVE_INFINITY : width;
  return formatCells(lines, shown, { lineMax, paint });
}

function formatCells(
  lines: readonly string[][],
  columns: readonly Column<never>[],
  { lineMax, paint }: { lineMax: number; paint: Paint },
): string[] {
  const widths = fit(
    columns.map((_, index) => Math.max(...lines.map((line) => displayWidth(line[index] ?? '')))),
    columns,
    lineMax,
  );
  return lines.map((line, row) =>
    line
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        const { align, colour } = columns[index] as Column<never>;
        const padded = pad(shorten(cell, width), width, align === 'right');
        return row === 0 || colour === undefined ? padded : paint(padded, colour(cell));
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** Narrows the columns that may be shortened, the last first, until a line fits. */
function fit(widths: number[], columns: readonly Column<never>[], lineMax: number): number[] {
  let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - lineMax;
  for (let at = columns.length - 1; at >= 0 && over > 0; at -= 1) {
    const { least, title } = columns[at] as Column<never>;
    if (least === undefined) continue;
    const width = widths[at] as number;
    const narrowed = Math.min(width, Math.max(least, title.length, width - over));
    widths[at] = narrowed;
    over -= width - narrowed;
  }
  return widths;
}

/** Cut at the end, with a sign that it was. */
function shorten(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

function pad(text: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? blanks + text : text + blanks;
}

/** What is not seen shown as `?`: a job's name must not drive a terminal, nor look like another. */
export function printable(text: string): string {
  return toPlainLine(text, '?');
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Columns that a terminal uses for it (UAX #11, and combining marks take none). */
export function displayWidth(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) {
    if (!/\p{Mark}|\u200d|\ufe0f/u.test(character)) width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}
