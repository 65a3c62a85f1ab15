// Tables for people: columns as wide as their content, numbers to the right, nothing cut off.

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: 'right';
  /** Only with `-o wide`. */
  readonly wide?: boolean;
}

/** Lines of a table, title line first. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  wide = false,
): string[] {
  const shown = columns.filter((column) => wide || !column.wide);
  const cells = rows.map((row) => shown.map(({ value }) => printable(value(row))));
  return formatCells([shown.map(({ title }) => title), ...cells], shown);
}

function formatCells(lines: readonly string[][], columns: readonly Column<never>[]): string[] {
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => displayWidth(line[index] ?? ''))),
  );
  return lines.map((line) =>
    line
      .map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align === 'right'))
      .join('  ')
      .trimEnd(),
  );
}

function pad(text: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? blanks + text : text + blanks;
}

/** Control characters shown as `?`: a job's name must not be able to drive a terminal. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '?');
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
