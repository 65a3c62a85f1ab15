// Columns of times: words for people, the fact itself for `-o csv`.

import type { Column } from './table.ts';
import { formatInstant, formatSpan } from './words.ts';

type Instant = number | null | undefined;
type Rest = Pick<Column<never>, 'wide'>;
/** When it started and ended; null or absent: not yet. */
export interface Span {
  readonly from: number | null;
  readonly until: number | null;
}

/** When something happens or happened; `none` stands where there is no such time. */
export function instantColumn<Row>(
  title: string,
  at: (row: Row) => Instant,
  { now, none = '-', ...rest }: Rest & { readonly now: number; readonly none?: string },
): Column<Row> {
  const value = (row: Row) => (at(row) == null ? none : formatInstant(at(row), now));
  return { title, value, raw: (row) => instant(at(row)), ...rest };
}

/** How long something took, or takes until now. */
export function spanColumn<Row>(
  title: string,
  span: (row: Row) => Span,
  { now, ...rest }: Rest & { readonly now: number },
): Column<Row> {
  return {
    title,
    align: 'right',
    value: (row) => elapsed(span(row), now),
    raw: (row) => seconds(span(row), now),
    ...rest,
  };
}

/** From the start until the end, or until now, in words. */
export function elapsed({ from, until }: Span, now: number): string {
  return from === null ? '-' : formatSpan((until ?? now) - from);
}

/** Null where nothing has started. */
function seconds({ from, until }: Span, now: number): number | null {
  return from === null ? null : ((until ?? now) - from) / 1000;
}

function instant(at: Instant): Date | null {
  return at == null ? null : new Date(at);
}
