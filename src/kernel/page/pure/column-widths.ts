// How wide the columns of long tables are: on wide screens, on narrow ones, and on phones.

export interface ColumnWidth {
  /** One without takes what is left. */
  readonly width?: string;
  /** Left out on narrow screens. */
  readonly spare?: boolean;
}

/** Pixels that a column without a width in pixels has at least on a phone: those have the names. */
const NAME_MIN = 96;

/** Values of `grid-template-columns`. `ahead`: widths of what stands before all of them. */
export function columnWidths(columns: readonly ColumnWidth[], ahead: readonly string[]) {
  const of = (all: readonly (string | undefined)[]): string =>
    [...ahead, ...all.map((width) => width ?? 'minmax(0, 1fr)')].join(' ');
  const kept = columns.filter(({ spare }) => spare !== true).map(({ width }) => width);
  return {
    wide: of(columns.map(({ width }) => width)),
    // Where the one is left out that takes what is left, those with a share of the width do.
    narrow: of(kept.map((width) => width?.replace(/^(\d+)%$/, 'minmax(0, $1fr)'))),
    // The others give way there: else names would be left with nothing.
    phone: of(kept.map(phoneWidth)),
  };
}

function phoneWidth(width: string | undefined): string {
  return width?.endsWith('px') ? `minmax(0, ${width})` : `minmax(${NAME_MIN}px, 1fr)`;
}
