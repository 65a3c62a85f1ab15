// How wide the columns of long tables are: on wide screens, on narrow ones, and on phones.

export interface ColumnWidth {
  /** One without takes what is left. */
  readonly width?: string;
  /** Left out on narrow screens. */
  readonly spare?: boolean;
}

/** Share of a phone's width of a column that has no width in pixels. */
const PHONE_SHARE = 110;

/** Values of `grid-template-columns`. `ahead`: widths of what stands before all of them. */
export function columnWidths(columns: readonly ColumnWidth[], ahead: readonly string[]) {
  const of = (all: readonly (string | undefined)[]): string =>
    [...ahead, ...all.map((width) => width ?? 'minmax(0, 1fr)')].join(' ');
  const kept = columns.filter(({ spare }) => spare !== true).map(({ width }) => width);
  return {
    wide: of(columns.map(({ width }) => width)),
    // Where the one is left out that takes what is left, those with a share of the width do.
    narrow: of(kept.map((width) => width?.replace(/^(\d+)%$/, 'minmax(0, $1fr)'))),
    // All give way there: else those with a share, which are names, would be left with nothing.
    phone: of(kept.map(phoneWidth)),
  };
}

function phoneWidth(width: string | undefined): string {
  const pixels = /^(\d+)px$/.exec(width ?? '')?.[1];
  return `minmax(0, ${pixels ?? PHONE_SHARE}fr)`;
}
