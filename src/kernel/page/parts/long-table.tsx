// A table of any length: only the rows in sight are in the document, each laid out by itself. A row
// that comes takes the place in the document of one that went. Elements of tables would be more honest
// than roles, but browsers style all cells of a row anew whenever it moves: 20 ms a frame, not 1.

// biome-ignore-all lint/a11y/useSemanticElements: rows that move are too slow as elements of tables
// biome-ignore-all lint/a11y/useFocusableInteractive: a head of a column is read; its button has the focus

import { Component, type ComponentChildren, createRef } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { noteScrolled, scrolledTo } from '../data/scrolled.ts';
import { type ColumnWidth, columnWidths } from '../pure/column-widths.ts';
import { inPlaces, placesOf, windowOf } from '../pure/job-rows.ts';

const ROW_HEIGHT = 29;
/** After the last scrolling, rows are put into the order in which they are read. */
const STILL_MS = 150;

export interface Column<Row, Key extends string> extends ColumnWidth {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly sort?: Key;
  readonly number?: boolean;
}

export interface LongTableParts<Row, Key extends string> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row, Key>[];
  readonly idOf: (row: Row) => number | string;
  readonly sorting?: { readonly key: Key; readonly down: boolean };
  readonly onSort?: (key: Key) => void;
  /** Called when the end comes into sight. */
  readonly onEnd?: () => void;
  /** Which rows are chosen; absent: none can be. */
  readonly chosen?: ReadonlySet<number | string>;
  readonly onChoose?: (row: Row | 'all', isChosen: boolean) => void;
}

export function LongTable<Row, Key extends string>(parts: LongTableParts<Row, Key>) {
  const { label, rows, columns, idOf, onEnd, chosen, onChoose } = parts;
  const box = useRef<HTMLElement>(null);
  const { from, until, isMoving } = useSight(box, rows.length);
  useWayBack(box, label, rows.length);
  const places = usePlaces(rows.slice(from, until).map(idOf));
  // An element that moves loses the focus: while one scrolls, all stay where they stood.
  const order = useRef<readonly number[]>([]);
  const lines = inPlaces(from, places, isMoving ? order.current : null);
  order.current = lines.map(({ place }) => place);
  useEffect(() => {
    if (until >= rows.length) onEnd?.();
  }, [until, rows.length]);
  // Rows outlive many of these functions; they call the newest.
  const choose = useRef(onChoose);
  choose.current = onChoose;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="long" ref={box} tabIndex={0} aria-label={label}>
      <div
        class="table"
        role="table"
        aria-rowcount={rows.length + 1}
        style={widths(columns, chosen !== undefined)}
      >
        <Head {...parts} />
        <div class="body" role="rowgroup" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
          {lines.map(({ at, place }) => {
            const row = rows[at] as Row;
            const id = idOf(row);
            const isChosen = chosen === undefined ? null : chosen.has(id);
            return <TableLine key={place} {...{ row, id, at, columns, isChosen, choose }} />;
          })}
        </div>
      </div>
    </section>
  );
}

/** The places of these rows: the focus and a click that has begun stay with their row. */
function usePlaces(ids: readonly (number | string)[]): readonly number[] {
  const kept = useRef<ReadonlyMap<number | string, number>>(new Map());
  const places = placesOf(kept.current, ids);
  kept.current = new Map(ids.map((id, row) => [id, places[row] as number]));
  return places;
}

/** Which rows are in the document, as one scrolls. */
function useSight(box: { readonly current: HTMLElement | null }, count: number) {
  const [sight, setSight] = useState({ top: 0, height: 800, isMoving: false });
  useEffect(() => {
    const element = box.current as HTMLElement;
    let frame = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (isMoving: boolean): void => {
      const { scrollTop: top, clientHeight: height } = element;
      setSight((before) =>
        before.top === top && before.height === height && before.isMoving === isMoving
          ? before
          : { top, height, isMoving },
      );
    };
    const rest = (): void => keepingFocus(element, () => look(false));
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(rest, STILL_MS);
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        look(true);
      });
    };
    element.addEventListener('scroll', soon, { passive: true });
    const watch = new ResizeObserver(soon);
    watch.observe(element);
    look(false);
    return () => {
      element.removeEventListener('scroll', soon);
      watch.disconnect();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return { ...windowOf(count, { ...sight, rowHeight: ROW_HEIGHT }), isMoving: sight.isMoving };
}

/** What the reader does who wants to be elsewhere in the table than where they were before. */
const OWN_WAYS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Notes how far one has scrolled, and comes back there as soon as there are rows so far down. */
function useWayBack(
  box: { readonly current: HTMLElement | null },
  table: string,
  count: number,
): void {
  const wanted = useRef<number | null>(scrolledTo(table));
  useEffect(() => {
    const element = box.current as HTMLElement;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = (): void => {
      clearTimeout(timer);
      if (wanted.current === null) noteScrolled(table, element.scrollTop);
    };
    // Browsers refuse to note each step.
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(note, STILL_MS);
    };
    const stay = (): void => {
      wanted.current = null;
    };
    element.addEventListener('scroll', soon, { passive: true });
    for (const way of OWN_WAYS) element.addEventListener(way, stay, { passive: true });
    // Before a link in it is followed.
    element.addEventListener('click', note, { capture: true });
    return () => {
      clearTimeout(timer);
      element.removeEventListener('scroll', soon);
      for (const way of OWN_WAYS) element.removeEventListener(way, stay);
      element.removeEventListener('click', note, { capture: true });
    };
  }, [table]);
  useEffect(() => {
    const top = wanted.current;
    const element = box.current as HTMLElement;
    if (top === null || count === 0) return;
    element.scrollTop = top;
    // Less: more rows are to come.
    if (element.scrollTop >= top - 1) wanted.current = null;
  }, [count]);
}

/** An element that moves within the document loses the focus. */
function keepingFocus(box: HTMLElement, change: () => void): void {
  const focused = document.activeElement;
  change();
  requestAnimationFrame(() => {
    if (!(focused instanceof HTMLElement) || !box.contains(focused)) return;
    if (document.activeElement !== focused) focused.focus({ preventScroll: true });
  });
}

/** The columns of all rows. */
function widths(columns: readonly ColumnWidth[], isChoice: boolean) {
  const { wide, narrow, phone } = columnWidths(columns, isChoice ? ['30px'] : []);
  return {
    '--row': `${ROW_HEIGHT}px`,
    '--columns': wide,
    '--columns-narrow': narrow,
    '--columns-phone': phone,
  };
}

interface LineParts<Row, Key extends string> {
  readonly row: Row;
  readonly id: number | string;
  /** In the whole table, from 0. */
  readonly at: number;
  readonly columns: readonly Column<Row, Key>[];
  /** Null when no row can be chosen. */
  readonly isChosen: boolean | null;
  readonly choose: { readonly current: LongTableParts<Row, Key>['onChoose'] };
}

/** One place for a row. Made again only when another row stands there, or a time in it grows. */
class TableLine<Row, Key extends string> extends Component<LineParts<Row, Key>> {
  readonly #element = createRef<HTMLDivElement>();

  override shouldComponentUpdate(next: LineParts<Row, Key>, state: unknown): boolean {
    const { row, at, columns, isChosen } = this.props;
    if (state !== this.state || next.row !== row || next.at !== at) return true;
    return next.columns !== columns || next.isChosen !== isChosen;
  }

  override componentDidUpdate(before: LineParts<Row, Key>): void {
    // What had the focus has scrolled out of sight; this row must not have it instead.
    if (before.id !== this.props.id) this.#giveFocusToTable();
  }

  override componentWillUnmount(): void {
    this.#giveFocusToTable();
  }

  #giveFocusToTable(): void {
    const element = this.#element.current;
    if (element === null || !element.contains(document.activeElement)) return;
    element.closest<HTMLElement>('.long')?.focus({ preventScroll: true });
  }

  render({ row, id, at, columns, isChosen, choose }: LineParts<Row, Key>) {
    return (
      <div
        ref={this.#element}
        role="row"
        aria-rowindex={at + 2}
        class={isChosen === true ? 'row chosen' : 'row'}
        style={{ top: `${at * ROW_HEIGHT}px` }}
      >
        {isChosen !== null && (
          <div role="cell" class="choice">
            <label>
              <input
                type="checkbox"
                aria-label={`Choose ${id}`}
                checked={isChosen}
                onChange={(event) => choose.current?.(row, event.currentTarget.checked)}
              />
            </label>
          </div>
        )}
        {columns.map((column) => (
          <div role="cell" key={column.title} class={classOf(column)}>
            {column.cell(row)}
          </div>
        ))}
      </div>
    );
  }
}

function Head<Row, Key extends string>(parts: LongTableParts<Row, Key>) {
  const { columns, sorting, onSort, chosen, onChoose, rows, idOf } = parts;
  return (
    <div class="head" role="rowgroup">
      <div class="row" role="row" aria-rowindex={1}>
        {chosen && (
          <div role="columnheader" class="choice">
            <label>
              <input
                type="checkbox"
                aria-label="Choose all rows"
                checked={rows.length > 0 && rows.every((row) => chosen.has(idOf(row)))}
                onChange={(event) => onChoose?.('all', event.currentTarget.checked)}
              />
            </label>
          </div>
        )}
        {columns.map((column) => {
          const { title, sort } = column;
          const isSorted = sort !== undefined && sorting?.key === sort;
          const order = sorting?.down === true ? 'descending' : 'ascending';
          return (
            <div
              role="columnheader"
              key={title}
              class={classOf(column)}
              aria-sort={isSorted ? order : undefined}
            >
              {sort === undefined || onSort === undefined ? (
                title
              ) : (
                <button type="button" onClick={() => onSort(sort)}>
                  {title}
                  <span aria-hidden="true">{isSorted ? (sorting?.down ? ' ↓' : ' ↑') : ''}</span>
                </button>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function classOf<Row, Key extends string>({ number, spare }: Column<Row, Key>): string {
  return [number === true ? 'number' : '', spare === true ? 'spare' : ''].filter(Boolean).join(' ');
}
